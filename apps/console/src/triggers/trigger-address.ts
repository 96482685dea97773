/** Where a request to a trigger goes: the manager that served this page, and the path that the manager made. */
export const addressOf = (path: string): string => new URL(path, window.location.origin).href;
