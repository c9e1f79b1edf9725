"""Words that count as equal when statements are compared, and opposites, which make statements differ.

A missing synonym prevents a merge; a wrong synonym replaces a memory. So a group of synonyms contains only words that
are interchangeable in any statement about software.
"""

from __future__ import annotations

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

SHORTEST_SPELLING = 4
"""The fewest letters of a name of which a longer spelling exists: "repo" for "repository"."""


def _spellings() -> dict[str, tuple[str, ...]]:
    """Return the other spellings of each word: synonyms that begin with it or that it begins with."""
    groups = [group.split() for group in SYNONYMS]
    found = {
        word: tuple(one for one in group if one != word and _is_spelling(*sorted((word, one), key=len)))
        for group in groups
        for word in group
    }
    return {word: others for word, others in found.items() if others}


def _is_spelling(short: str, long: str) -> bool:
    return len(short) >= SHORTEST_SPELLING and long.startswith(short)


_SPELLINGS = _spellings()


def spellings(word: str) -> tuple[str, ...]:
    """Return the other spellings of a word in lower case, such as "postgresql" for "postgres"; none for most words."""
    return _SPELLINGS.get(word, ())


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
    write save
    skip ignore
    drain empty
    bad wrong
    wide width
    high height
    long length
    huge big
    explain explanation
    hit use
    follow use
    adhere use
    build use
    appear happen
    matter important
    """.strip().splitlines()
)
"""Groups of words that are interchangeable if all other words of two statements agree.

They are not synonyms in general. If a word is in two groups, the other words of these groups aren't interchangeable.
"""

WEAK = frozenset(
    "environment work request appear occur step process system instance access logic mechanism functionality"
    " section suite project module package library tool command folder flag pattern".split()
)
"""Words that one of two equal statements may lack: "staging" means "the staging environment"."""

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
"""Pairs of opposites: two statements with different words of a pair mean different things."""
