import type { Diagnostics } from '../diagnostics/diagnostic';
import type { ReadLimits } from '../yaml/limits';
import type { ImportResolver } from './resolver';
import type { TextCache } from './text-cache';

export interface ImportLimits {
  /** Files of one blueprint, including those of imported blueprints. */
  imports: number;
  /** Characters of all files together. */
  totalLength: number;
  /** Depth of nested namespaces, and of nested blueprint imports. */
  namespaceDepth: number;
}

export const defaultImportLimits: ImportLimits = {
  imports: 500,
  totalLength: 32_000_000,
  namespaceDepth: 20,
};

/** Shared data for the reading of one blueprint and all its imports. */
export interface LoadContext {
  diagnostics: Diagnostics;
  resolver: ImportResolver;
  cache: TextCache;
  readLimits: ReadLimits;
  importLimits: ImportLimits;
  resourcesBasePath: string | null;
  validateVersion: boolean;
  /** Remaining limits; shared with imported blueprints. */
  budget: { imports: number; characters: number };
  blueprintDepth: number;
}
