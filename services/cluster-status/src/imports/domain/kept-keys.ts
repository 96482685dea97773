/** Use under which the keys of an import's archive are sealed. */
export const useOfImport = (id: string): string => `import:${id}`;
