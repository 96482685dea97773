import type { SeededFault } from './seeded-faults';

const executions = (file: string) => `services/executions/src/${file}.ts`;
const graph = (file: string) => `packages/task-graph/src/${file}.ts`;

/** Bugs in the handling after a crash, a cancel or a resume: rarely executed code. */
export const repairFaults: readonly SeededFault[] = [
  {
    name: 'timers are not read back after a crash',
    file: executions('engine/steps/graph-memory'),
    find: "if (row.state === 'pending' && row.not_before !== null) loaded.timers.set(row.idx, row.not_before);",
    replace: '',
  },
  {
    name: 'a forced cancel of what is queued waits for deployments without end',
    file: executions('engine/commands/cancel-execution'),
    find: "execution.phase === 'waiting' ? statusOfCancel[mode] : next",
    replace: "execution.phase === 'waiting' ? 'cancelling' : next",
  },
  {
    name: 'the deadline after a failure is not read back after a crash',
    file: executions('engine/steps/graph-memory'),
    find: 'if (deadline !== null && head.flags.ended === null) loaded.timers.set(null, deadline);',
    replace: 'void deadline;',
  },
  {
    name: 'who holds an operation is not read back after a crash',
    file: executions('engine/steps/graph-memory'),
    find: 'loaded.holders.set(row.idx, row.worker_id);',
    replace: 'void 0;',
  },
  {
    name: 'states that were not delivered are not read back after a crash',
    file: executions('engine/steps/graph-memory'),
    find: '  loaded.states = await pendingStates(tx, execution.id);\n',
    replace: '',
  },
  {
    name: 'the later timer hides the earlier one',
    file: executions('engine/steps/advance-graph'),
    find: 'return new Date(Math.min(...loaded.timers.values())).toISOString();',
    replace: 'return new Date(Math.max(...loaded.timers.values())).toISOString();',
  },
  {
    name: 'an operation that ended keeps its holder',
    file: executions('engine/steps/advance-graph'),
    find: '    loaded.holders.delete(change.idx);\n',
    replace: '',
  },
  {
    name: 'states in memory have the numbers of those before them',
    file: executions('engine/steps/uncommitted'),
    find: 'loaded.states.push({ ...state, seq: base + 1 + i });',
    replace: 'loaded.states.push({ ...state, seq: base + i });',
  },
  {
    name: 'a step that was written is not noted in memory',
    file: executions('engine/steps/uncommitted'),
    find: '  loaded.version = version;\n',
    replace: '  loaded.version = version - 1;\n',
  },
  {
    name: 'late answers of an ended graph are dropped',
    file: executions('engine/steps/run-step'),
    find: "if (!execution?.graph_id || (execution.phase !== 'running' && !options.alsoEnded)) return null;",
    replace: "if (!execution?.graph_id || execution.phase !== 'running') return null;",
  },
  {
    name: 'who runs an operation of a stopped execution is forgotten with its resume',
    file: executions('engine/steps/resume-graph'),
    find: '      loaded.holders.set(idx, worker_id);',
    replace: '      void worker_id;',
  },
  {
    name: 'who runs an operation that had waited is forgotten with its resume',
    file: executions('engine/steps/resume-graph'),
    find: '  noteDispatch(loaded, decision);\n  noteHolders(loaded, rows);\n',
    replace: '  noteHolders(loaded, rows);\n  noteDispatch(loaded, decision);\n',
  },
  {
    name: 'a forced cancel waits for the end that hangs',
    file: executions('engine/commands/cancel-execution'),
    find: '  else deps.wake.driveAtOnce(executionId);',
    replace: '  else deps.wake.drive(executionId);',
  },
  {
    name: 'the time of a forced cancel is that of the last step',
    file: executions('engine/commands/drive-execution'),
    find: '  if (forcedLeftMs(loaded.execution, loaded.execution.now_ms) !== null) return null;\n',
    replace: '',
  },
  {
    name: 'a resume forgets the timers of what waits',
    file: executions('engine/steps/resume-graph'),
    find: '  noteTimers(loaded, decision);\n',
    replace: '',
  },
  {
    name: 'a resume dispatches without saying so',
    file: executions('engine/steps/resume-graph'),
    find: '  noteDispatch(loaded, decision);\n',
    replace: '',
  },
  {
    name: 'a resume forgets the states that were not delivered',
    file: executions('engine/steps/resume-graph'),
    find: '  loaded.states = await pendingStates(tx, execution.id);\n',
    replace: '',
  },
  {
    name: 'what follows when a graph ends with its resume is forgotten',
    file: executions('engine/steps/resume-graph'),
    find: '  if (step.outcome) endGraph(deps, decided, step.outcome);\n',
    replace: '',
  },
  {
    name: 'a resume does not look whether the execution has ended',
    file: executions('engine/commands/resume-execution'),
    find: '      refuseUnlessStopped(execution, isForced);\n',
    replace: '',
  },
  {
    name: 'a resume does not look at what else is at work on the deployment',
    file: executions('engine/commands/resume-execution'),
    find: '      if (!isForced && !mayRunBeside) await refuseBesideOthers(tx, execution);\n',
    replace: '',
  },
  {
    name: 'a resume begins again with the stages that succeeded',
    file: executions('engine/commands/resume-execution'),
    find: '  const history = last && isFailed(last) ? execution.history.slice(0, -1) : execution.history;',
    replace: '  const history: typeof execution.history = [];',
  },
  {
    name: 'what was killed for a cancel that a resume took back has failed',
    file: executions('engine/commands/finish-tasks'),
    find: `      if (loaded.graph.flags.ended === null && loaded.graph.flags.cancel === null)
        return { kind: 'lost', ...run, isUnwanted: true };
`,
    replace: '',
  },
  {
    name: 'a report of many is taken as far as its first',
    file: executions('engine/commands/finish-tasks'),
    find: 'if (happening) happenings.push(happening);',
    replace: 'if (happening) { if (happenings.length === 0) happenings.push(happening); }',
  },
  {
    // When the graph ends, it takes back operations that no worker has claimed: then nothing is left to lease.
    name: 'operations of a stopped execution are leased, and stay sent after its end',
    file: executions('engine/commands/finish-tasks'),
    find: 'return { happenings, claims: mayClaim ? [{ workerId, room, preferred: null }] : [] };',
    replace: 'return { happenings, claims: [{ workerId, room, preferred: null }] };',
    also: { file: graph('run'), find: 'if (step.graph.active === 0) return;', replace: 'return;' },
  },
  {
    // The graph refuses reports of an older attempt as well.
    name: 'runs of silent workers are taken from whoever has them now',
    file: executions('engine/commands/reap-leases'),
    find: 'loaded.graph.nodes[run.idx]?.attempt === run.attempt && loaded.holders.has(run.idx)',
    replace: 'loaded.holders.has(run.idx)',
    also: {
      file: executions('engine/commands/reap-leases'),
      find: "({ kind: 'lost', idx: run.idx, attempt: run.attempt })",
      replace: "({ kind: 'lost', idx: run.idx, attempt: loaded.graph.nodes[run.idx]!.attempt })",
    },
  },
  {
    name: 'runs of stopped executions stay with dead workers',
    file: executions('engine/commands/reap-leases'),
    find: 'await runStep(deps, executionId, planned, { alsoEnded: true });',
    replace: 'await runStep(deps, executionId, planned);',
  },
  {
    name: 'a kill does not reach the operations',
    file: executions('engine/commands/cancel-execution'),
    find: '  return stopping(await requestKill(tx, execution.graph_id!));',
    replace: '  return stopping([]);',
  },
  {
    name: 'a kill names operations, and not which runs of them',
    file: executions('engine/wakes'),
    find: '{ executionId, taskIds, attempts }',
    replace: '{ executionId, taskIds }',
  },
  {
    name: 'a status that a client sets ends the execution and not its graph',
    file: executions('engine/commands/set-status'),
    find: "    await stopGraph(deps, tx, execution, 'force-cancel');\n",
    replace: '    void stopGraph;\n',
  },
  {
    name: 'a cancel changes the graph in memory and keeps it when it is not written',
    file: executions('engine/commands/cancel-execution'),
    find: '    deps.memory.forget(execution.id);\n',
    replace: '',
  },
  {
    name: 'states count as delivered that a forced cancel has left',
    file: executions('engine/commands/end-execution'),
    find: 'deliveredSeq: isTold ? execution.last_state_seq : 0,',
    replace: 'deliveredSeq: execution.last_state_seq,',
  },
  {
    name: 'an end is told without the version on which it was decided',
    file: executions('engine/commands/end-execution'),
    find: '    version: execution.version,\n  });',
    replace: '    version: 0,\n  });',
  },
  {
    name: 'a resume says nothing of the version since when it goes on',
    file: executions('engine/commands/resume-execution'),
    find: 'requestedOf({ ...execution, version: execution.version + 1 }, true)',
    replace: 'requestedOf({ ...execution, version: 0 }, true)',
  },
  {
    name: 'what deployments finds at the end is told before it is decided',
    file: executions('engine/commands/end-execution'),
    find: '  const row = await deps.turns.take(execution.id, () => deps.steps.write(write));\n  deps.memory.forget',
    replace:
      '  await tellDeployments(deps, execution, outcome);\n  const row = await deps.turns.take(execution.id, () => deps.steps.write(write));\n  deps.memory.forget',
  },
  {
    name: 'an end that was stored untold is owed to nobody',
    file: executions('engine/commands/end-execution'),
    find: 'wakeAt: isTold ? null : isoInstant(execution.now_ms),',
    replace: 'wakeAt: null,',
  },
  {
    name: 'a late answer forgets that an end is owed',
    file: executions('engine/steps/advance-graph'),
    find: "wakeAt: execution.phase === 'ended' ? execution.wake_at : nextWake(loaded),",
    replace: 'wakeAt: nextWake(loaded),',
  },
  {
    name: 'ends that are owed are told by nobody',
    file: executions('engine/commands/tell-owed-ends'),
    find: "if (execution?.phase === 'ended') await tellEnd(deps, execution);",
    replace: 'if (execution === undefined) return;',
  },
  {
    name: 'an owed end counts as heard before it is told',
    file: executions('engine/commands/tell-owed-ends'),
    find: "    await tellDeployments(deps, execution, { status: execution.status as Outcome['status'] });",
    replace:
      "    tellDeployments(deps, execution, { status: execution.status as Outcome['status'] }).catch(() => undefined);",
  },
  {
    name: 'what deployments finds at the end is not listened to',
    file: executions('engine/commands/end-execution'),
    find: "  return failure === '' ? null :",
    replace: '  return failure.length < 1_000 ? null :',
  },
  {
    name: 'memory is trusted for the last states whatever its version is',
    file: executions('engine/commands/deliver-states'),
    find: 'const isKnown = loaded?.version === execution.version;',
    replace: 'const isKnown = loaded !== null;',
  },
  {
    name: 'a stage is planned on a model that does not show the stages before',
    file: executions('engine/commands/drive-execution'),
    find: '    await deliverAll(deps, execution);\n',
    replace: '',
  },
  {
    name: 'the answer of a call is stored whatever the execution does by now',
    file: executions('engine/commands/carry-out-call'),
    find: "if (!locked || locked.phase !== 'calling' || locked.stage?.name !== stage.name) return false;",
    replace: 'if (!locked) return false;',
  },
  {
    name: 'a task that has a row is inserted again',
    file: executions('engine/steps/task-writes'),
    find: '      loaded.rowless.delete(idx);\n',
    replace: '',
  },
  {
    name: 'leases have no end',
    file: executions('engine/steps/task-writes'),
    find: 'leaseMs: holder === null ? null : leaseMsOf(agents, holder),',
    replace: 'leaseMs: null,',
  },
  {
    name: 'the error of a task that failed is not stored',
    file: executions('engine/steps/task-writes'),
    find: '    node.error === null &&\n',
    replace: '',
  },
  {
    // The substitute store/queue.sql.ts selects candidates by the same rule.
    name: 'of a deployment in the queue any one begins',
    file: executions('executions/commands/dequeue-executions'),
    find: '  return row.created_at < than.created_at || (row.created_at === than.created_at && row.id < than.id);',
    replace: '  return false;',
    also: {
      file: 'test/sim/service/store/queue.sql.ts',
      find: 'const mayOvertake = isAwaited(reader, one.id);',
      replace: 'const mayOvertake = true;',
    },
  },
  {
    name: 'what leaves the queue does not lock its deployment',
    file: executions('executions/commands/dequeue-executions'),
    find: '  else await lockGuard(tx, candidate.tenant, candidate.deployment_id);\n',
    replace: '',
  },
  {
    name: 'a scheduled execution is released and queued by nobody',
    file: executions('engine/commands/wake-executions'),
    find: "    await updateExecution(tx, executionId, { status: 'queued', wake_at: null });\n",
    replace: '',
  },
  {
    name: 'an operation that is lost keeps its attempt',
    file: graph('run'),
    find: '  node.attempt++;\n',
    replace: '  if (node.losses === 0 || node.attempt === 0) node.attempt++;\n',
  },
  {
    name: 'a failing subgraph does not wait for what runs inside',
    file: graph('failure'),
    find: "if (subgraph.state !== 'started' || subgraph.error === null || subgraph.runningInside > 0) return;",
    replace: "if (subgraph.state !== 'started' || subgraph.error === null) return;",
  },
  {
    // Only due timers are passed on, so the graph never sees a timer before its time.
    name: 'timers are taken before they are due',
    file: graph('run'),
    find: '  if (node.notBefore !== null && node.notBefore > step.now) return;\n',
    replace: '',
    also: {
      file: executions('engine/commands/wake-executions'),
      find: 'const due = [...loaded.timers].filter(([, at]) => at <= execution.now_ms);',
      replace: 'const due = [...loaded.timers];',
    },
  },
  {
    name: 'a system-wide execution in the queue holds up what it waits for itself',
    file: executions('executions/commands/dequeue-executions'),
    find: 'const isAwaited = await isAwaitedByOther(tx, candidate.id);',
    replace: 'const isAwaited = false;',
  },
  {
    name: 'a system-wide execution in the queue holds up members of groups that it waits for itself',
    file: executions('executions/commands/open-to'),
    find: "? 'awaited' : 'nothing'",
    replace: "? 'nothing' : 'nothing'",
  },
  {
    name: 'a resume does not look at system-wide executions',
    file: executions('engine/commands/resume-execution'),
    find: '      await refuseBesideSystemWide(tx, execution);\n',
    replace: '',
  },
  {
    name: 'others begin beside a system-wide execution',
    file: executions('executions/commands/dequeue-executions'),
    find: 'const facts = { systemWide, ofDeployment,',
    replace: 'const facts = { systemWide: [], ofDeployment,',
  },
  {
    name: 'a system-wide execution begins beside others',
    file: executions('executions/commands/dequeue-executions'),
    find: 'const atWork = isSystemWide(candidate) ? await executionsAtWork(tx, candidate.id) : [];',
    replace: 'const atWork: string[] = [];',
  },
  {
    name: 'nobody looks for operations whose wake-up was lost, nor wakes them',
    file: executions('engine/commands/wake-deferred'),
    find: 'work: (executionId, tasks) => wakeTasks(deps, executionId, tasks),',
    replace: 'work: async () => undefined,',
    also: {
      file: executions('engine/commands/wake-deferred'),
      find: 'await eachAlone(byExecution, ([executionId, tasks]) => wakeTasks(deps, executionId, tasks));',
      replace: 'void byExecution;',
    },
  },
];
