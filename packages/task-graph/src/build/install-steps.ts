import type { LifecycleSubject } from '../subject';
import { getsAgent } from './model-index';
import {
  AGENT,
  around,
  event,
  HOST,
  LIFECYCLE,
  type Link,
  MONITORING,
  MONITORING_AGENT,
  operation,
  overRelationships,
  state,
  VALIDATION,
} from './steps';

type Skippable = 'validation' | 'precreate' | 'create' | 'preconfigure' | 'configure';

const BEFORE_CONFIGURE: Skippable[] = ['validation', 'precreate', 'create'];
const BEFORE_START: Skippable[] = [...BEFORE_CONFIGURE, 'preconfigure', 'configure'];

/** Steps that an instance in this state has completed (reference workflows.md 1.6). */
const SKIPPED: { [state: string]: Skippable[] } = {
  starting: BEFORE_START,
  configured: BEFORE_START,
  configuring: BEFORE_CONFIGURE,
  created: BEFORE_CONFIGURE,
  creating: ['validation', 'precreate'],
};

/** Returns the install sequence of one instance from its present state (reference workflows.md 1.6). */
export function installSteps(subject: LifecycleSubject): Link[] {
  const skipped = new Set(SKIPPED[subject.state ?? ''] ?? []);
  const unless = (step: Skippable, links: () => Link[]): Link[] => (skipped.has(step) ? [] : links());
  const validation = unless('validation', () =>
    around(
      subject,
      `${VALIDATION}.create`,
      [event('Validating node instance before creation')],
      [event('Node instance validated before creation')],
    ),
  );
  const precreate = unless('precreate', () =>
    around(
      subject,
      `${LIFECYCLE}.precreate`,
      [event('Precreating node instance')],
      [event('Node instance precreated')],
    ),
  );
  const create = unless('create', () =>
    changing(subject, 'create', ['Creating', 'creating'], ['created', 'created']),
  );
  const preconfigure = unless('preconfigure', () =>
    overRelationships(subject, 'preconfigure', {
      before: 'Pre-configuring relationships',
      after: 'Relationships pre-configured',
    }),
  );
  const configure = unless('configure', () =>
    changing(subject, 'configure', ['Configuring', 'configuring'], ['configured', 'configured']),
  );
  const rest = subject.state === 'started' ? NOTHING : fromPostconfigure(subject);
  const all = [validation, precreate, create, preconfigure, configure, ...Object.values(rest)];
  // A host always runs its own steps, even empty ones: its events are those of an installed host.
  const isEmpty = !subject.isHost && all.every((links) => links.length === 0);
  if (subject.state === 'started' || isEmpty) {
    return [[state('started'), event('Node instance started (nothing to do)')]];
  }
  return [
    [state('initializing')],
    ...orSay(validation, 'Validating node instance before creation'),
    ...orSay(precreate, 'Precreating node instance'),
    ...orSay(create, 'Creating node instance'),
    ...preconfigure,
    ...orSay(configure, 'Configuring node instance'),
    ...rest.postconfigure,
    ...orSay(rest.start, 'Starting node instance'),
    ...rest.host,
    ...orSay(rest.poststart, 'Poststarting node instance'),
    ...rest.monitoring,
    ...rest.establish,
    [state('started'), event('Node instance started')],
  ];
}

interface Rest {
  postconfigure: Link[];
  start: Link[];
  host: Link[];
  poststart: Link[];
  monitoring: Link[];
  establish: Link[];
}

const NOTHING: Rest = {
  postconfigure: [],
  start: [],
  host: [],
  poststart: [],
  monitoring: [],
  establish: [],
};

function fromPostconfigure(subject: LifecycleSubject): Rest {
  return {
    postconfigure: overRelationships(subject, 'postconfigure', {
      before: 'Post-configuring relationships',
      after: 'Relationships post-configured',
    }),
    start: around(subject, `${LIFECYCLE}.start`, [state('starting'), event('Starting node instance')], []),
    host: subject.isHost ? hostPostStart(subject) : [],
    poststart: around(
      subject,
      `${LIFECYCLE}.poststart`,
      [event('Poststarting node instance')],
      [event('Node instance poststarted')],
    ),
    monitoring: operation(subject, `${MONITORING}.start`),
    establish: overRelationships(subject, 'establish', {
      before: 'Establishing relationships',
      after: 'Relationships established',
    }),
  };
}

function changing(
  subject: LifecycleSubject,
  name: string,
  [doing, whileState]: [string, string],
  [done, afterState]: [string, string],
): Link[] {
  return around(
    subject,
    `${LIFECYCLE}.${name}`,
    [state(whileState), event(`${doing} node instance`)],
    [state(afterState), event(`Node instance ${done}`)],
  );
}

function orSay(links: Link[], what: string): Link[] {
  return links.length > 0 ? links : [[event(`${what}: nothing to do`)]];
}

/** Makes a started host ready for operations: waits for it, and installs an agent on it. */
function hostPostStart(subject: LifecycleSubject): Link[] {
  const links = operation(subject, `${HOST}.get_state`, { handler: 'repeat-until-truthy' });
  if (getsAgent(subject.installMethod)) {
    links.push([event('Creating agent')], ...operation(subject, `${AGENT}.create`), [event('Agent created')]);
    if (subject.installMethod === 'plugin' || subject.installMethod === 'init_script') {
      links.push([event('Waiting for agent to start')], ...operation(subject, `${AGENT}.start`), [
        event('Agent started'),
      ]);
    }
  }
  links.push(
    ...operation(subject, `${MONITORING_AGENT}.install`),
    ...operation(subject, `${MONITORING_AGENT}.start`),
  );
  return links;
}
