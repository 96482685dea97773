export { type DownloadOptions, download } from './download';
export type { ToolDownload } from './fetched';
export { type FoundTool, type ToolScope, type ToolSpec, tool } from './tool';
