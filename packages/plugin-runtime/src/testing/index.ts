export { isRunning, makeRig, type Rig } from './memory-host';
