import type { Ports } from '../ports';
import type { GraphMemory } from './steps/graph-memory';
import type { StepWriter } from './steps/step-writer';

/** All ports, and the engine's own ones, which only its commands use. */
export interface EnginePorts extends Ports {
  /** Cache of the graphs of executions at work. */
  memory: GraphMemory;
  steps: StepWriter;
}
