/** The methods of each path, used only for requests that matched no route (404 or 405). */
export interface PathIndex {
  add(method: string, path: string): void;
  /** Sorted methods of all routes whose path matches; empty: no such path. */
  methodsOf(path: string): string[];
}

function patternOf(path: string): RegExp {
  const parts = path.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('/')}$`);
}

export function pathIndex(): PathIndex {
  const entries = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  return {
    add(method, path) {
      const entry = entries.get(path) ?? { pattern: patternOf(path), methods: new Set<string>() };
      entry.methods.add(method);
      entries.set(path, entry);
    },
    methodsOf(path) {
      const methods = new Set<string>();
      for (const entry of entries.values())
        if (entry.pattern.test(path)) for (const m of entry.methods) methods.add(m);
      return [...methods].sort();
    },
  };
}
