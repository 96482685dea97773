/**
 * Suites that look at one manager in one browser, after each other: to start both costs as much as many tests. One alone:
 * `npx jest test/console/stage -t shell`. Each must pass alone, and leave what the next ones count as it was.
 */
import { agentsPart } from './agents.part';
import { devicePart } from './device.part';
import { hostilePart } from './hostile.part';
import { identityPart } from './identity.part';
import { importsPart } from './imports.part';
import { keyboardPart } from './keyboard.part';
import { resourcesPart } from './resources.part';
import { shellPart } from './shell.part';
import { openStage, type Stage } from './stage';
import { webhooksPart } from './webhooks.part';

jest.setTimeout(240_000);
let stage: Stage;
const shared = (): Stage => stage;

beforeAll(async () => {
  stage = await openStage();
}, 240_000);
afterAll(() => stage?.close());

describe('resources', () => resourcesPart(shared));
describe('webhooks', () => webhooksPart(shared));
describe('identity', () => identityPart(shared));
describe('shell', () => shellPart(shared));
describe('agents', () => agentsPart(shared));
describe('keyboard', () => keyboardPart(shared));
describe('device', () => devicePart(shared));
describe('imports', () => importsPart(shared));
// Last: it makes deployments.
describe('hostile', () => hostilePart(shared));
