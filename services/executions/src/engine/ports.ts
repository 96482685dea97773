import type { Ports } from '../ports';
import type { GraphMemory } from './steps/graph-memory';
import type { StepWriter } from './steps/step-writer';

/** All ports; those of its own only the commands of the engine ask for. */
export interface EnginePorts extends Ports {
  /** Graphs of executions at work. */
  memory: GraphMemory;
  steps: StepWriter;
}
