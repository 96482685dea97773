export { makeRig, type Rig } from './memory-host';
