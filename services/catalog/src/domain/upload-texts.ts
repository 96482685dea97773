/** Texts of refused uploads that clients of the original compare; the values of the specification. */
export interface UploadTexts {
  /** The archive has not exactly one folder at its top. `found`: what is wrong, in our words. */
  topFolder(found: string): string;
  /** The main file does not exist; `isNamed`: the request has named it. */
  mainFile(fileName: string, isNamed: boolean): string;
}

export const specTexts: UploadTexts = {
  topFolder: (found) => `Failed to extract the archive - ${found}`,
  mainFile: (fileName) => `${fileName} does not exist in the application directory`,
};
