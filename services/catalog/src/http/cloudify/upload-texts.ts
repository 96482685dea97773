import { specTexts, type UploadTexts } from '../../domain/upload-texts';

/** The original's words (reference/workflows.md, upload_blueprint), which its clients' tests compare. */
export const originalTexts: UploadTexts = {
  topFolder: () => 'Archive must contain exactly 1 directory',
  mainFile: (fileName, isNamed) =>
    isNamed
      ? specTexts.mainFile(fileName, isNamed)
      : `Application directory is missing ${fileName} and application_file_name query parameter was not passed`,
};
