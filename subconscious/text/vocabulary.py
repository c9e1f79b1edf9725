"""Word lists for comparing statements: synonyms, opposites, and words that name a place, an environment or a scope.

A missing synonym costs a merge; a wrong one replaces a memory. So a group has only words that are interchangeable in
any statement about software.
"""

from __future__ import annotations

FILLERS = frozenset(
    "a an the this that these those which who there here it its our ours am is"
    " are be been being do does did done doing have has had having please just really also very quite"
    " simply actually basically so well ok okay now currently always and or both e.g i.e"
    " of for in on at by as to with via through using about around approximately roughly what how such into onto"
    " all every each any everywhere etc"
    " generally normally typically hence therefore thus thereby indeed obviously clearly kindly respective"
    " respectively ever between against yourself ourselves themselves itself".split()
)
"""Words without which a statement says the same; a preposition among them still gives a word its role."""

LIGHT: tuple[tuple[str, ...], ...] = (
    ("i me", "we", "you", "they them"),
    (
        "use run perform do happen exist occur prefer favour favor",
        "store save persist live reside locate belong put express sit",
        "keep stay remain",
        "add",
        "make",
        "create",
        "write",
        "call invoke",
        "get take",
        "come",
        "go",
        "need",
        "pass",
        "set",
    ),
    ("file entry item value everything", "code", "time", "length", "one"),
)
"""Words that may be missing from one of two statements whose other words agree: "run the linter", "lint".

Where both statements have a pronoun (or a verb, or a noun) that the other lacks, the two are of one group: to use a
lock is not to create one.
"""

SYNONYMS: tuple[str, ...] = tuple(
    """
    i me
    they them
    use utilise utilize employ
    run execute exec
    perform happen occur
    fix repair correct mend solve
    folder directory dir
    repository repo
    config configuration configure cfg conf
    settings preferences
    database db
    environment env
    document documentation doc docs
    parameter param
    argument arg
    variable var
    dependency dep
    function func fn
    application app
    specification spec
    package pkg
    identifier id
    information info
    authentication authn
    authorization authz
    kubernetes k8s
    javascript js
    typescript ts
    postgres postgresql pg
    temporary temp tmp
    minimum min
    one single
    average avg mean
    message msg
    delete remove erase strip
    begin start launch startup
    depend rely
    respect honour honor obey
    choose pick select
    prefer favour favor like
    ensure guarantee
    big large huge
    small little tiny short brief concise terse
    quick fast rapid
    error failure
    edit modify change alter touch adjust
    create generate produce
    build compile
    store save keep retain preserve persist live reside belong put locate
    send transmit deliver ship
    return answer respond reply
    show display
    reject refuse
    need require mandatory necessary essential requirement
    larger greater bigger above over exceed
    smaller less fewer below under
    talk connect
    contain include
    connection conn
    fetch retrieve obtain pull
    via through
    reduce decrease lower
    raise increase
    verify check validate validation
    purge wipe
    guard protect
    complain warn
    halt stop
    stall hang
    secret credential
    outdated stale obsolete
    unused dead
    enough sufficient
    wrong incorrect
    identical same
    distinguish differentiate
    expire lapse
    lazy lazily
    hand manual manually
    describe explain
    skip omit
    split divide
    combine merge
    replace substitute
    forbid prohibit disallow ban
    permit allow let
    crash abort
    whole entire complete
    method procedure
    job task
    repeat duplicate
    cause trigger
    bug defect
    fail break broken defective choke
    read load
    define declare specify
    direct straight
    convert transform
    calculate compute calc
    limit restrict cap maximum max
    discard drop
    notify inform
    match equal
    monitor watch observe
    evaluate eval assess
    initialize initialise init
    move relocate
    redact mask
    lint linter
    login signin
    logout signout
    simple easy
    hard difficult
    expensive costly
    empty blank
    missing absent
    safe secure
    separate distinct
    immediate immediately instant instantly
    concurrent simultaneous parallel
    slow sluggish
    flaky unreliable
    issue problem
    goal purpose aim
    machine computer
    production prod
    development dev
    mac macos osx
    admin administrator
    organization organisation org
    async asynchronous
    sync synchronous
    mongodb mongo
    node nodejs
    regex regexp
    certificate cert
    library lib
    utility util
    attribute attr
    property prop
    reference ref
    implementation impl implement
    statistics stats
    command cmd
    context ctx
    index idx
    timezone tz
    extension ext
    performance perf
    language lang
    picture photo
    amount quantity
    developer programmer
    attempt try
    detect discover notice spot
    collect gather
    delay defer postpone
    pause suspend
    quit exit
    restore recover
    revert undo
    recommend suggest advise
    assist help
    hide conceal
    improve enhance
    provide supply offer
    mention cite
    inspect examine
    important crucial
    extra additional further
    redundant superfluous
    several multiple
    similar alike
    result outcome
    comment remark
    colleague teammate
    plugin addon
    example sample
    option choice
    website site
    truncate shorten
    cleanup tidy
    swallow suppress
    newest latest
    prevent avert
    pagination paging paginate
    adhere follow
    rare seldom
    speed pace
    expect assume
    terminate kill
    await wait
    inactive idle
    """.strip().splitlines()
)
"""Synonyms; the first word of a group represents it. Each word is in one group only."""

NEAR: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in """
    exit finish end complete
    kill stop terminate shutdown
    handle support
    support accept
    support work
    manage handle control
    depend use
    call talk contact query hit
    contain hold
    work run function
    forward send relay
    create open
    create add introduce
    clear flush purge wipe
    clear delete
    reset clear
    record log
    record document
    inspect review
    get receive
    update refresh
    bump upgrade
    bump increase
    set configure
    set define
    apply run
    apply use
    boot start
    publish release
    pin lock
    pin freeze
    gzip compress
    accept allow
    tolerate allow
    reject deny
    reject block
    go belong put
    own maintain
    ask consult
    tell inform
    want need
    want prefer
    trigger start run
    start run
    error exception
    ticket issue
    approval signoff
    request call
    endpoint route
    column field
    row record
    flag option switch
    image picture
    page screen view
    price cost
    speed performance
    rule convention guideline
    vendor provider supplier
    fresh new
    own separate dedicated
    real actual
    main primary
    happen wrap run
    wrap use
    track use
    manage use
    handle use
    host machine
    look check
    squash combine
    folder path
    reach access
    connect access
    test check
    time duration
    notice see
    smaller limit
    inherit extend
    inherit derive
    config settings
    go send
    hit use
    follow use
    adhere use
    build use
    appear happen
    matter important
    """.strip().splitlines()
)
"""Pairs of words that are interchangeable if all other words agree; this is not transitive.

They are no synonyms in general, but exchanging one for the other does not change such a statement.
"""

WEAK = frozenset(
    "environment work request appear occur step process system instance access logic mechanism functionality"
    " section suite project module package library tool command folder flag pattern".split()
)
"""Words that one of two statements may have besides, where all others agree: "staging" is "the staging environment"."""

OPPOSITES: tuple[frozenset[str], ...] = tuple(
    frozenset(pair.split())
    for line in (
        "enable disable,enabled disabled,add remove,add delete,create delete,before after,allow deny,allow forbid",
        "allow block,permit deny,sync async,synchronous asynchronous,synchronously asynchronously,public private",
        "min max,minimum maximum,first last,upper lower,encode decode,encrypt decrypt,serialize deserialize",
        "client server,read write,input output,left right,old new,always never,tabs spaces,tab space",
        "sensitive insensitive,optional required,optional mandatory,manual automatic,manually automatically",
        "float integer,local utc,local remote,push pull,safe unsafe,mutable immutable,frontend backend",
        "start stop,open close,lock unlock,mount unmount,install uninstall,upload download,import export",
        "accept reject,approve reject,include exclude,increase decrease,raise lower,ascending descending,asc desc",
        "internal external,inside outside,inner outer,top bottom,high low,higher lower,large small,long short",
        "longer shorter,greater less,more less,more fewer,single double,static dynamic,stateless stateful",
        "online offline,source target,source destination,request response,get set,push pop,head tail,begin end",
        "start end,early late,earlier later,eager lazy,eagerly lazily,pass fail,succeed fail,success failure",
        "strict lenient,strict loose,hot cold,warm cold,fast slow,oldest newest,latest oldest,upstream downstream",
        "producer consumer,publisher subscriber,publish subscribe,sender receiver,send receive,parent child",
        "primary secondary,primary replica,leader follower,master replica,upgrade downgrade,expand shrink",
        "show hide,visible hidden,inclusive exclusive,inbound outbound,ingress egress,incoming outgoing,on off",
        "true false,yes no,positive negative,valid invalid,known unknown,signed unsigned,ordered unordered",
        "blocking nonblocking,parallel sequential,concurrent sequential,parallel serial,horizontal vertical",
        "row column,rows columns,attach detach,connect disconnect,login logout,register unregister",
        "subscribe unsubscribe",
        "stage production,light dark,black white,big small,up down,in out,with without,over under,above below",
        "whitelist blacklist,allowlist denylist,stable unstable,supported deprecated,supported unsupported",
        "keep delete,keep remove,keep drop,add drop,commit rollback,migrate rollback,direct indirect,explicit implicit",
        "absolute relative,global local,shared exclusive,full partial,shallow deep,soft hard,even odd,major minor",
        "prefix suffix,forward backward,next previous,wrap unwrap,compress decompress,pack unpack,freeze thaw",
    )
    for pair in line.split(",")
)
"""Opposites: exchanging one for the other makes a different statement."""

_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday weekday weekend"
_MONTHS = "january february march april june july august september october november december"
_PLACES = {
    "environment": "staging production prod dev development ci local locally preview sandbox qa uat canary testing",
    "place": "frontend backend client server mobile desktop web worker scheduler gateway api cli daemon ui browser"
    " disk memory cloud edge host container vm replica laptop",
    "time": f"{_WEEKDAYS} {_MONTHS} hourly daily nightly weekly monthly yearly quarterly midnight noon morning evening",
    "system": "linux windows macos mac osx ubuntu debian android ios unix posix freebsd alpine",
    "language": "python ruby rust go golang java kotlin swift javascript typescript php perl scala elixir haskell bash"
    " c c++ c# english german french spanish italian japanese chinese",
    "direction": "left right top bottom north south east west europe america asia",
}
PLACES: dict[str, str] = {word: sort for sort, words in _PLACES.items() for word in words.split()}
"""Words that say where or when a statement holds, by sort."""

UNITS: dict[str, str] = {
    form: forms.split()[0]
    for forms in (
        "ms millisecond milliseconds msec",
        "us microsecond microseconds",
        "second seconds sec secs s",
        "minute minutes min mins",
        "hour hours h hr hrs",
        "day days d",
        "week weeks",
        "month months",
        "year years",
        "b byte bytes",
        "kb kilobyte kilobytes kib",
        "mb megabyte megabytes mib",
        "gb gigabyte gigabytes gib",
        "tb terabyte terabytes tib",
        "% percent",
        "time times x",
        "px pixel pixels",
    )
    for form in forms.split()
}
"""Units: each form with its representative."""

SECONDS = {"us": 1e-6, "ms": 1e-3, "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
"""Units of time, in seconds."""

NUMBERS = {
    word: str(value)
    for value, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)
}

IMPERATIVES = frozenset(
    "add allow answer apply ask assign avoid build cache call catch change check close commit configure convert copy"
    " create cut declare define delete deploy disable document edit enable encrypt ensure export fetch fix"
    " follow format generate give handle hash import include index install keep leave limit lint list load lock log"
    " look make mark merge migrate mock modify move name note open pass pin place prefer print push"
    " put raise read rebase rebuild redact release remove rename replace report require resize restart"
    " retry return review rotate round run save schedule send set show sign skip sort specify split squash start stop"
    " store strip tag test throw track treat turn update upgrade use validate verify wait wrap write".split()
)
"""Verbs that open an instruction, which is a duty as "must" is."""

IRREGULAR = {
    form: forms.split()[0]
    for line in (
        "use used,build built,choose chose chosen,find found,give gave given,hold held,keep kept,make made",
        "mean meant,run ran",
        "send sent,show shown showed,take took taken,throw threw thrown,write wrote written,break broke broken",
        "come came,go went gone goes,get got gotten,begin began begun,draw drew drawn,fall fell fallen,bring brought",
        "say said,tell told,know knew known,lose lost,hide hid hidden,speak spoke spoken,deploy deployment",
        "require requirement,replace replacement,measure measurement,approve approval,retrieve retrieval",
        "remove removal,rebuild rebuilt,override overridden overrode,rewrite rewritten,rerun reran,fix fixes",
        "tie tying,die dying,install installation,transform transformation,confirm confirmation,register registration",
        "represent representation,present presentation,implement implementation,maintain maintenance,exist existence",
        "renew renewal,refuse refusal,dispose disposal,dismiss dismissal,agree agreement,develop developed developing",
        "manage management,adjust adjustment,move movement,improve improvement,assign assignment,enforce enforcement",
        "encrypt encryption,delete deletion,expire expiration expiry,publish publication,derive derivation",
        "forget forgot forgotten,leave left,think thought,teach taught,catch caught,buy bought,feed fed",
        "freeze froze frozen,tear tore torn,stick stuck,spend spent,bind bound,deal dealt,meet met,pay paid",
        "lay laid,spin spun,strike struck,hang hung,win won,shrink shrank shrunk,grow grew grown,blow blown",
        "steal stole stolen,eat eaten,drive drove driven,shake shaken,undo undone,redo redone,withdraw withdrawn",
        "understand understood,withhold withheld,stand stood,rise rose risen,wake woke woken,swap swapped,grow growth",
        "apologize apologies apology,forbid forbade forbidden,strict strictness",
    )
    for forms in line.split(",")
    for form in forms.split()[1:]
}
"""Irregular forms and their words."""

UNCHANGED = frozenset("https news dns aws css tls sms gps os ios us".split())
"""Words whose last letter is no ending."""

NO_ADVERBS = frozenset(
    "hourly nightly weekly monthly yearly quarterly assembly friendly multiply butterfly shortly"
    " lately hardly nearly barely".split()
)
"""Words in "ly" that are not made of an adjective, or mean something else."""

PARTICIPLES = frozenset("read set put run cut split hit let shut overridden built sent".split())
"""Participles that look like their verb, or have no regular ending."""

PAST = frozenset(
    "was were had did broke ran chose came went took wrote threw began fell brought said told knew lost gave"
    " previously formerly originally".split()
)
"""Words that say that something was so."""
