"""A runner that indexes nothing and answers by rule; ``behave`` in the job's options says how."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import resin_es

# in a real environment resin-es is absent; here the runner borrows its helpers by path
sys.path.insert(
    0, str(Path(resin_es.__file__).parent / "evaluation" / "systems" / "external" / "runners")
)

import protocol  # type: ignore[import-not-found]


def main(job: protocol.Job) -> None:
    behave = job.options.get("behave", "well")
    (job.work / "seen.json").write_text(
        json.dumps({"environment": sorted(os.environ), "key": bool(job.key != "none")})
    )
    if behave == "crash":
        print("the graph is empty")
        raise SystemExit(7)
    if behave == "fatal":
        job.fatal(f"401: bad key {job.key}".replace(job.key, "********"))
    if behave == "hang":
        time.sleep(60)
    with job.measured() as cost:
        job.spend.add(100, 20)
    failed = len(job.documents) if behave == "holes" else 0
    job.reply("indexed", documents=len(job.documents), failed=failed, **cost)
    for number, question in enumerate(job.open_questions()):
        if behave == "half" and number == 1:
            job.reply("failed", question=question["id"], reason="RateLimitError: slow down")
            continue
        if behave == "cut off" and number == 1:
            with open(sys.argv[1].replace(".job.json", ".jsonl"), "a") as replies:
                replies.write('{"kind": "answered", "quest')
            os._exit(9)
        with job.measured() as cost:
            job.spend.add(10, 2)
        job.reply("answered", question=question["id"], **context(job, question["text"]), **cost)
        job.progress(number + 1, len(job.questions), "asking")


def context(job: protocol.Job, question: str) -> dict[str, object]:
    if job.options.get("behave") == "text":
        return {"text": f"A report on {question} " * 50, "answer": "so"}
    words = set(question.lower().split())
    rows = sorted(job.documents, key=lambda row: -len(words & set(row["text"].lower().split())))
    chunks = [{"text": row["text"], "document": row["id"]} for row in rows]
    return {"chunks": [*chunks, {"text": "made up by a model"}], "answer": "so"}


if __name__ == "__main__":
    main(protocol.Job(sys.argv[1]))
