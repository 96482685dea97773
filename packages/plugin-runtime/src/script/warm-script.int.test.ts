import { existsSync, readdirSync } from 'node:fs';
import type { JsonObject } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { isRunning, type Rig } from '../testing/memory-host';
import { warmRig } from '../testing/warm-rig';
import { ownDir } from './settings';
import type { WarmPython } from './warm-python';

const isBubblewrap = existsSync('/usr/bin/bwrap') && process.getuid?.() === 0;
const MODES = isBubblewrap ? (['none', 'bubblewrap'] as const) : (['none'] as const);
/** Succeeds where a server has started it. */
const IS_WARM = '#!/bin/sh\ngrep -qa baton_server /proc/$PPID/cmdline';

/**
 * Without what differs between two processes, what a shell around the program adds, and two signals of the C library, which
 * posix_spawn ignores.
 */
const comparable = (line: string): string =>
  line
    .replaceAll(/[\w-]*\/runs\/[^ ,"':]*|localhost[^ "]*/g, 'X')
    .replaceAll(/, stderr: Killed|(?<=1: )exec: /g, '')
    .replace(/(SigIgn:\s*)0000000180000000/, '$10000000000000000');

describe.each(MODES)('scripts of a server, isolation %s', (mode) => {
  const running: (WarmPython | undefined)[] = [];
  afterEach(async () => {
    for (const warm of running.splice(0)) await warm?.close();
  });
  const rigFor = (options: Omit<Parameters<typeof warmRig>[1] & object, 'mode'> = {}): Rig => {
    const rig = warmRig({}, { mode, ...options });
    running.push(rig.deps.warm);
    rig.deps.scripts.python = '/usr/bin/python3';
    rig.task.plugin = { ...rig.task.plugin, name: 'script' };
    return rig;
  };
  const isWarm = async (rig: Rig, deploymentId = 'dep'): Promise<boolean> => {
    const end = await rig.script(IS_WARM, {}, { deploymentId });
    rig.host.lines.length = 0;
    return end.kind === 'succeeded';
  };
  const warmed = async (rig = rigFor()): Promise<Rig> => {
    await eventually(async () => expect(await isWarm(rig)).toBe(true));
    return rig;
  };

  it.each<[string, string, JsonObject]>([
    [
      'variables, limits and descriptors',
      '#!/bin/bash\nenv | sort; ulimit -a; ls /proc/self/fd; umask',
      { a: [1] },
    ],
    ['signals', '#!/bin/bash\ngrep -E "Sig(Blk|Ign|Cgt)" /proc/self/status; cat; yes | head -1', {}],
    [
      'folders',
      '#!/bin/bash\nls -A . $TMPDIR; ls -A "$(dirname "$0")"; [ -w "$0" ] && echo own; basename $PWD',
      {},
    ],
    ['exit codes', '#!/bin/bash\necho out; echo err >&2; exit 7', {}],
    ['deaths', '#!/bin/bash\nkill -9 $$', {}],
    ['missing interpreters', '#!/no/such/program\n', {}],
    ['texts without a first line', 'echo "plain $0" | sed "s,/[^ ]*/,,"; ctx returns 5', {}],
    ['arguments', '#!/bin/sh\necho "$# $1 $2"', { process: { args: ['a', '"b c"'], command_prefix: 'sh' } }],
    ['errors among the output', '#!/bin/sh\necho e >&2', { process: { stderr_to_stdout: true } }],
    ['no output', '#!/bin/sh\necho o; echo e >&2', { process: { log_stdout: false, log_stderr: false } }],
    ['results', '#!/bin/bash\nctx instance runtime-properties x 1; ctx returns @5', {}],
    [
      'variables that the author sets',
      '#!/bin/sh\necho $HOME $X',
      { process: { env: { HOME: '/h', X: 'y' } } },
    ],
    [
      'Python',
      'import os, sys\nfrom cloudify import ctx\nprint(sorted(sys.argv[1:]), __name__, os.listdir("."), sys.path[0][-6:])\nctx.returns([1])',
      {},
    ],
    [
      'raised errors',
      '#!/usr/bin/python3\nfrom cloudify.exceptions import NonRecoverableError\nraise NonRecoverableError("no")',
      {},
    ],
    [
      'Python by option',
      '#!/bin/odd\nprint(1)\nraise SystemExit(3)',
      { process: { eval_python: true, log_stderr: false } },
    ],
  ])('have the same %s as a process of its own', async (_, text, inputs) => {
    const rig = await warmed();
    const outcome = async () => {
      rig.host.lines.length = 0;
      const end = JSON.stringify(await rig.script(text, inputs));
      return [end, ...rig.host.logged()].map(comparable).filter((line) => !/OLDPWD|err> Killed/.test(line));
    };
    const warm = await outcome();
    delete rig.deps.warm;
    expect(warm).toEqual(await outcome());
  });

  it('find nothing of the script before them', async () => {
    const rig = await warmed();
    await rig.script(
      '#!/bin/bash\nfor d in . "$TMPDIR" "$(dirname "$0")"; do mkdir -p "$d/deep/er"; echo > "$d/-rf x"; done',
    );
    await rig.script('#!/bin/bash\nls -A . $TMPDIR; ls "$(dirname "$(dirname "$0")")" | wc -l');
    expect(rig.host.logged().filter((line) => /deep|rf x/.test(line))).toEqual([]);
    expect(rig.host.logged().at(-1)).toBe('<out> 3');
  });

  it('leave background processes running, and the next one has another server', async () => {
    const rig = await warmed();
    const end = await rig.script(
      '#!/bin/bash\ngrep -qa baton_server /proc/$PPID/cmdline && ctx returns $PPID; sleep 20 < /dev/null > /dev/null 2>&1 &\necho $!',
    );
    expect(end).toMatchObject({ kind: 'succeeded', result: expect.any(String) });
    expect(await isWarm(rig)).toBe(false);
    if (mode !== 'none') return;
    const pid = Number((end as { result: string }).result);
    await eventually(() => expect(isRunning(pid)).toBe(false));
  });

  it('fail alone when they kill their server', async () => {
    const rig = await warmed();
    expect(await rig.script('#!/bin/bash\nkill -9 $PPID; sleep 60')).toMatchObject({
      kind: 'failed',
      isRecoverable: true,
      failure: { exceptionType: 'ProcessException' },
    });
    expect(await rig.script('#!/bin/sh\ntrue')).toMatchObject({ kind: 'succeeded' });
  }, 30_000);

  it('cannot read or change the memory and the files of the server', async () => {
    const rig = await warmed();
    const end = await rig.script(
      '#!/bin/bash\ngrep -qa baton_server /proc/$PPID/cmdline || exit 9\nfor f in mem environ; do cat /proc/$PPID/$f > /dev/null 2>&1; : >> /proc/$PPID/$f; done 2> /dev/null\nls /proc/$PPID/fd > /dev/null 2>&1 && exit 8; (exec 3> /proc/$PPID/mem) 2> /dev/null && exit 7; cat /proc/$PPID/environ > /dev/null 2>&1 && exit 6; exit 0',
    );
    // Without isolation as root, every file of every process is open anyway.
    expect(end.kind).toBe(mode === 'none' ? 'failed' : 'succeeded');
  });

  it('stop at a cancel with everything they have started', async () => {
    const rig = await warmed();
    const stop = new AbortController();
    const source = '#!/bin/bash\n(trap "" TERM; sleep 300) &\necho begun; sleep 300';
    const end = rig.run({ inputs: { script_source: source } }, stop.signal);
    await eventually(() => expect(rig.host.logged()).toEqual(['<out> begun']));
    stop.abort('cancelled');
    expect(await end).toEqual({ kind: 'stopped', reason: 'cancelled' });
    expect(readdirSync(ownDir(rig.deps.scripts.workRoot, 'runs'))).toEqual([]);
  }, 30_000);

  it('stop at their time limit', async () => {
    const rig = await warmed();
    expect(await rig.script('#!/bin/bash\nsleep 300', {}, { timeoutMs: 300 })).toMatchObject({
      kind: 'timed-out',
    });
  }, 30_000);

  it('of another deployment or tenant have a server of their own', async () => {
    const rig = await warmed();
    const pids = new Set<unknown>();
    for (const task of [{}, { deploymentId: 'other' }, { tenant: 'other_tenant' }])
      await eventually(async () => {
        const end = await rig.script(
          '#!/bin/bash\ngrep -qa baton_server /proc/$PPID/cmdline && ctx returns "$(stat -Lc %i /proc/self/ns/mnt) $PPID $(id -u)"',
          {},
          { deploymentId: 'dep', tenant: 'default_tenant', ...task },
        );
        expect(end).toMatchObject({ kind: 'succeeded', result: expect.any(String) });
        pids.add((end as { result: string }).result);
      });
    expect(pids.size).toBe(3);
  }, 30_000);

  it('end in a process of their own where the system refuses the program to the server', async () => {
    const rig = await warmed();
    expect(await rig.script('#!/bin/sh\ntrue', { big: 'x'.repeat(200_000) })).toMatchObject({
      failure: { message: expect.stringMatching(/^the inputs are more than/) },
    });
    expect(await rig.script('#!/bin/sh\ntrue')).toMatchObject({ kind: 'succeeded' });
  });

  it('leave no server behind when the worker ends', async () => {
    const rig = await warmed();
    await rig.deps.warm?.close();
    expect(readdirSync(ownDir(rig.deps.scripts.workRoot, 'runs'))).toEqual([]);
    expect(await isWarm(rig)).toBe(false);
  });
});
