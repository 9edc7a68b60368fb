"""
The AWS command line without its start of half a second. `aws.py SOCKET serve` loads it once, and each call of
`aws.py SOCKET call ARGUMENT...` is a fork with the environment, folder and streams of the caller. It asks five times a second
whether a stack is complete, not every 30 seconds.
"""
import json
import os
import socket
import sys
import time
import traceback
import types

[_, path, mode, *arguments] = sys.argv


def serve():
    from awscli import clidriver
    from botocore import waiter

    waiter.time = types.SimpleNamespace(sleep=lambda _: time.sleep(0.2))
    # What each call would import.
    clidriver.create_clidriver()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        print("ready", flush=True)
        running = set()
        while True:
            connection, _ = listener.accept()
            child = os.fork()
            if child == 0:
                answer(connection, clidriver.main)
            connection.close()
            running.add(child)
            running -= {pid for pid in running if os.waitpid(pid, os.WNOHANG)[0] == pid}


def answer(connection, main):
    """Does what the caller asks for, and ends this process."""
    code = 1
    try:
        _, streams, _, _ = socket.recv_fds(connection, 1, 3)
        call = json.load(connection.makefile())
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.update(call["environment"])
        os.chdir(call["folder"])
        sys.argv = ["aws", *call["arguments"]]
        code = main()
        sys.stdout.flush()
    except SystemExit as end:
        code = end.code
    except Exception:
        traceback.print_exc()
    finally:
        connection.sendall(bytes([code]))
        os._exit(code)


def call():
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [b" "], [0, 1, 2])
        call = {"arguments": arguments, "environment": dict(os.environ), "folder": os.getcwd()}
        connection.sendall(json.dumps(call).encode())
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(1)[0]


sys.exit(serve() if mode == "serve" else call())
