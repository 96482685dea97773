/** Every text that the console shows, in English. Another language is another object of this shape. */
import { agentsTexts } from './en-agents';
import { blueprintsTexts } from './en-blueprints';
import { changeTexts } from './en-change';
import { deploymentsTexts } from './en-deployments';
import { deviceTexts } from './en-device';
import { editorTexts } from './en-editor';
import { eventsTexts } from './en-events';
import { executionsTexts } from './en-executions';
import { formsTexts } from './en-forms';
import { frameTexts } from './en-frame';
import { identityTexts } from './en-identity';
import { kitTexts } from './en-kit';
import { managerTexts } from './en-manager';
import { overviewTexts } from './en-overview';
import { peopleTexts } from './en-people';
import { resourcesTexts } from './en-resources';
import { schedulesTexts } from './en-schedules';
import { webhooksTexts } from './en-webhooks';

export const en = {
  ...frameTexts,
  ...deviceTexts,
  ...kitTexts,
  ...deploymentsTexts,
  ...executionsTexts,
  ...overviewTexts,
  ...eventsTexts,
  ...peopleTexts,
  ...managerTexts,
  ...agentsTexts,
  ...resourcesTexts,
  ...schedulesTexts,
  ...blueprintsTexts,
  ...editorTexts,
  ...formsTexts,
  ...changeTexts,
  ...webhooksTexts,
  ...identityTexts,
};

export type Catalogue = typeof en;
