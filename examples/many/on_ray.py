"""The tasks of a file on Ray, a share for each worker: `python on_ray.py tasks.txt 4 25` is 4 workers of 25 tabs."""

import asyncio
import sys
import time
from pathlib import Path

import ray
from share import run_share


@ray.remote(num_cpus=0.5)
def share(commands, tabs):
    return asyncio.run(run_share(commands, tabs))


def main():
    path, workers, tabs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    commands = Path(path).read_text().splitlines()
    ray.init(runtime_env={"working_dir": str(Path(__file__).parent)}, include_dashboard=False)
    begun = time.perf_counter()
    done = ray.get([share.remote(commands[number::workers], tabs) for number in range(workers)])
    right = sum(one["exit_code"] == 0 for some in done for one in some)
    print(f"{right} of {len(commands)} tasks ended with 0, in {time.perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main()
