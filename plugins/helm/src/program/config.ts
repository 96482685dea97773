/** Folders in which the machine of the worker looks for programs. */
export const searchPath = (): string | undefined => process.env.PATH;
