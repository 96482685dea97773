// Texts of refusals that the reference quotes (workflows.md 2.9, 2.10, 3.1, 3.2), each provoked with BATON_WIRE=cloudify.

import { requestExecution } from '../executions/commands/request-execution';
import { peerDeployment } from '../testing/deployments-peer';
import { drive, type EngineSetup, engineSetup } from '../testing/engine-setup';
import { startRequest } from '../testing/start-request';
import { cancelExecution } from './commands/cancel-execution';
import { resumeExecution } from './commands/resume-execution';
import { setStatus } from './commands/set-status';

let engine: EngineSetup;
const { begin, workToEnd } = drive(() => engine);
let ended: string;
let running: string;
beforeAll(async () => {
  engine = await engineSetup({ BATON_WIRE: 'cloudify' });
  for (const id of ['still', 'busy']) engine.peer.deployments.set(id, peerDeployment({ a: [] }, ['create']));
  ended = await begin('still', 'install');
  await workToEnd(ended);
  running = await begin('busy', 'install');
}, 120_000);
afterAll(() => engine?.stop());

const ROWS: [string, () => Promise<unknown>, string, () => string][] = [
  [
    'the resume of an execution that has ended well',
    () => resumeExecution(engine.deps, ended, false),
    'conflict_error',
    () => `Cannot resume execution: \`${ended}\` in state: \`terminated\``,
  ],
  [
    'its forced resume',
    () => resumeExecution(engine.deps, ended, true),
    'conflict_error',
    () => `Cannot force-resume execution: \`${ended}\` in state: \`terminated\``,
  ],
  [
    'its cancel',
    () => cancelExecution(engine.deps, ended, 'cancel'),
    'illegal_action_error',
    () => `Can't cancel execution ${ended} because it's in status terminated`,
  ],
  [
    'its forced cancel',
    () => cancelExecution(engine.deps, ended, 'force-cancel'),
    'illegal_action_error',
    () => `Can't force-cancel execution ${ended} because it's in status terminated`,
  ],
  [
    'another status for it',
    () => setStatus(engine.deps, ended, 'started', ''),
    'invalid_exception_status_update',
    () =>
      `Invalid relationship - can't change status from terminated to started for "${ended}" execution while running "install" workflow.`,
  ],
  [
    'a start beside an execution of the deployment',
    () => requestExecution(engine.deps, startRequest('busy')),
    'existing_running_execution_error',
    () =>
      `The following executions are currently running for this deployment: ['${running}']. To execute this workflow anyway, pass "force=true" as a query parameter to this request`,
  ],
  [
    'a system-wide start beside any execution',
    () =>
      requestExecution(
        engine.deps,
        startRequest(null, { workflowId: 'restore_snapshot', isSystemWorkflow: true }),
      ),
    'existing_running_execution_error',
    () => `Cannot start execution because there are other executions running e.g.: ['${running}']`,
  ],
];

test.each(ROWS)('%s', async (_what, provoke, code, text) => {
  await expect(provoke()).rejects.toMatchObject({ code, message: text() });
});
