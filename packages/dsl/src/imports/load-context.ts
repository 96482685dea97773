import type { Diagnostics } from '../diagnostics/diagnostic';
import type { ReadLimits } from '../yaml/limits';
import type { ImportResolver } from './resolver';
import type { TextCache } from './text-cache';

export interface ImportLimits {
  /** Files of one blueprint, those of imported blueprints included. */
  imports: number;
  /** Characters of all of them together. */
  totalLength: number;
  /** Namespaces within each other, and blueprints within each other. */
  namespaceDepth: number;
}

export const defaultImportLimits: ImportLimits = {
  imports: 500,
  totalLength: 32_000_000,
  namespaceDepth: 20,
};

/** What the reading of one blueprint and of all that it imports shares. */
export interface LoadContext {
  diagnostics: Diagnostics;
  resolver: ImportResolver;
  cache: TextCache;
  readLimits: ReadLimits;
  importLimits: ImportLimits;
  resourcesBasePath: string | null;
  validateVersion: boolean;
  /** What is left of the limits; shared with imported blueprints. */
  budget: { imports: number; characters: number };
  blueprintDepth: number;
}
