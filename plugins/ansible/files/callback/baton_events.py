"""Tells what Ansible does as lines of JSON: one event a line, after a prefix that the caller chose.

Values are cut, so that a line stays shorter than 60,000 characters. Results of tasks with no_log come without their values from
Ansible itself. With BATON_EVENTS_FACTS the facts of each host are written to a file of that folder.
"""
from __future__ import annotations

import json
import os
import sys

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: baton_events
type: stdout
short_description: events as lines of JSON
description:
  - One event a line, for a program that reads them.
"""

PREFIX = os.environ.get("BATON_EVENTS_PREFIX", "")
FACTS = os.environ.get("BATON_EVENTS_FACTS", "")
TEXT_CHARACTERS = 2000
LINE_CHARACTERS = 60000
DIFFS = 20


def cut(value):
    """The value as a text of bounded length; nothing for nothing."""
    if value is None or value == "":
        return None
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= TEXT_CHARACTERS else text[:TEXT_CHARACTERS] + "..."


def diffs_of(result):
    """Differences of a result and of the items of its loop: header, before, after."""
    found = []
    for part in [result] + [item for item in result.get("results") or [] if isinstance(item, dict)]:
        diff = part.get("diff")
        for one in diff if isinstance(diff, list) else [diff]:
            if isinstance(one, dict) and len(found) < DIFFS:
                found.append(
                    {
                        "header": cut(one.get("after_header") or one.get("before_header")),
                        "before": cut(one.get("before", one.get("prepared"))),
                        "after": cut(one.get("after")),
                    }
                )
    return [one for one in found if one["before"] or one["after"]]


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    # Beside another callback of standard output this one is an additional one.
    CALLBACK_TYPE = os.environ.get("BATON_EVENTS_TYPE", "stdout")
    CALLBACK_NAME = "baton_events"
    CALLBACK_NEEDS_ENABLED = True
    CALLBACK_NEEDS_WHITELIST = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._facts = 0

    def _say(self, event):
        line = json.dumps(event, default=str)
        if len(line) > LINE_CHARACTERS:
            line = json.dumps({key: event[key] for key in ("e", "s", "h", "t", "ignored") if key in event}, default=str)
        # One write: parts of lines of several processes must not mix.
        sys.stdout.write(PREFIX + line + "\n")
        sys.stdout.flush()

    def _result(self, state, result, ignored=False):
        values = result._result if isinstance(result._result, dict) else {}
        task = result._task
        event = {"e": "result", "s": state, "h": result._host.get_name(), "t": task.get_name()}
        if ignored:
            event["ignored"] = True
        if "censored" in values:
            event["m"] = "hidden by no_log"
        else:
            event["m"] = cut(values.get("msg"))
            event["out"] = cut(values.get("stdout") or values.get("module_stdout"))
            event["err"] = cut(values.get("stderr") or values.get("module_stderr"))
            event["rc"] = values.get("rc")
            event["d"] = diffs_of(values)
            self._keep_facts(event["h"], values)
        self._say({key: value for key, value in event.items() if value not in (None, [])})

    def _keep_facts(self, host, values):
        facts = values.get("ansible_facts")
        if not FACTS or not isinstance(facts, dict):
            return
        path = os.path.join(FACTS, "%d.json" % self._facts)
        self._facts += 1
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"host": host, "facts": facts}, out, default=str)

    def v2_playbook_on_play_start(self, play):
        self._say({"e": "play", "t": cut(play.get_name())})

    def v2_playbook_on_task_start(self, task, is_conditional):
        self._say({"e": "task", "t": cut(task.get_name())})

    def v2_playbook_on_handler_task_start(self, task):
        self._say({"e": "task", "t": cut(task.get_name())})

    def v2_playbook_on_no_hosts_matched(self):
        self._say({"e": "no_hosts"})

    def v2_runner_on_ok(self, result):
        self._result("changed" if result._result.get("changed") else "ok", result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._result("failed", result, ignored=bool(ignore_errors))

    def v2_runner_on_unreachable(self, result):
        self._result("unreachable", result)

    def v2_runner_on_skipped(self, result):
        self._result("skipped", result)

    def v2_runner_retry(self, result):
        self._result("retry", result)

    def v2_playbook_on_stats(self, stats):
        hosts = {}
        for host in sorted(stats.processed.keys()):
            of = stats.summarize(host)
            hosts[host] = {
                "ok": of["ok"],
                "changed": of["changed"],
                "failed": of["failures"],
                "unreachable": of["unreachable"],
                "skipped": of["skipped"],
                "rescued": of.get("rescued", 0),
                "ignored": of.get("ignored", 0),
            }
        names = list(hosts)
        # Many hosts come in several lines.
        for at in range(0, max(len(names), 1), 100):
            self._say({"e": "stats", "hosts": {name: hosts[name] for name in names[at : at + 100]}})
