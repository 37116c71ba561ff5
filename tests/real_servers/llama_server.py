"""llama.cpp's server with one model: `python llama_server.py MODEL.gguf NAME PORT CONTEXT THREADS`.

It listens on loopback. `xllamacpp` (MIT) has it prebuilt; it speaks the chat, responses and messages APIs.
"""

from __future__ import annotations

import signal
import sys


def main(path: str, name: str, port: str, context: str, threads: str) -> None:
    """Serve until the process is ended."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = path, {name}
    params.hostnames, params.port = ["127.0.0.1"], int(port)
    params.n_ctx, params.n_parallel, params.use_jinja = int(context), 1, True
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
    server = xllamacpp.Server(params)
    print(f"listening on {server.listening_address}", flush=True)
    signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
