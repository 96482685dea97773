import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { FileField } from '../../ui/file-field';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/inputs';
import { type Visibility, VisibilityField } from '../../ui/visibility';
import { isPluginOf, zipOf } from './plugin-archive';
import { PLUGINS, uploadPlugin } from './plugins';

/** Uploads a plugin from this computer: a wagon, a zip, or a wagon with its yaml files. */
export default function UploadDialog({ onClose }: { onClose: () => void }) {
  const [files, setFiles] = useState<File[]>([]);
  const [title, setTitle] = useState('');
  const [visibility, setVisibility] = useState<Visibility>('tenant');
  const names = files.map(({ name }) => name);
  const isPlugin = isPluginOf(names);
  const upload = useChange(
    [PLUGINS],
    async (client, tenant) => {
      const file = files.length === 1 ? files[0]! : zipOf(await Promise.all(files.map(bytesOf)));
      return await uploadPlugin(client, tenant, { file, title, visibility });
    },
    onClose,
  );
  return (
    <FormDialog
      title={t.plugins.upload}
      submit={upload.isPending ? t.plugins.uploading : t.plugins.submit}
      mutation={upload}
      onSubmit={() => upload.mutate()}
      onClose={onClose}
      isIncomplete={!isPlugin}
    >
      {(errorOf) => (
        <>
          <FileField
            label={t.plugins.files}
            hint={t.plugins.filesHint}
            error={files.length > 0 && !isPlugin ? t.plugins.noPlugin : errorOf('archive')}
            accept=".bplug,.wgn,.zip,.yaml,.yml"
            isMultiple
            onChange={setFiles}
          />
          <TextField
            label={t.plugins.titleField}
            hint={t.plugins.titleHint}
            value={title}
            onChange={setTitle}
            error={errorOf('title')}
          />
          <VisibilityField value={visibility} onChange={setVisibility} error={errorOf('visibility')} />
        </>
      )}
    </FormDialog>
  );
}

const bytesOf = async (file: File) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
