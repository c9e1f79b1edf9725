"""A small real model behind llama.cpp's server, as a process of its own that ends with its stdin.

Run with the path of a GGUF file; prints the address once it listens.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.port = 0
    params.verbosity = -1
    params.sampling.seed = 7
    params.sampling.temp = 0.0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # its threads have nothing to keep


if __name__ == "__main__":
    main()
