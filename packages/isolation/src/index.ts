export { type Attempt, type Choice, chooseIsolation, NoIsolationError } from './choose-isolation';
export type { ControlGroups } from './control-groups';
export type { Egress } from './egress/egress';
export { type Endpoint, endpointsOfUrl, parseEndpoint } from './egress/endpoints';
export { reachableAddress } from './egress/reach';
export { noIsolation } from './none';
export type {
  Account,
  Command,
  Confinement,
  ControlGroupChoice,
  EgressSettings,
  Isolation,
  IsolationName,
  IsolationSettings,
  Launch,
  Limits,
  OperationGroup,
  SharedPath,
} from './port';
export { findProgram, type ProbeEnd, runInside } from './probe';
export { startLaunch } from './start';
