export { createEngineDouble, type DoubleTask, type EngineDouble } from './engine-double';
