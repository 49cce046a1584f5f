/** Backups: a list, what makes one, and when the server makes them itself. */
import type { BackupInfo } from '@pannier/backend'
import { useRef, useState } from 'react'
import type { ReactNode } from 'react'
import { backupUrl, deleteBackup, health, listBackups, restoreBackup, uploadBackup } from '../../api/operations.ts'
import { Button, useBusy } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { confirm } from '../../state/question.ts'
import { bytesText, Moment } from '../../parts/figures.tsx'
import { Failed, Loading, Notice } from '../../parts/loading.tsx'
import { showDone } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { ServerHead } from '../server-head.tsx'
import { BackupSchedule } from './backup-schedule.tsx'
import { NewBackup } from './new-backup.tsx'
import { Restarting } from './restarting.tsx'
import sheet from './backups.css'

const { backups: texts } = OPERATIONS

export function View(): ReactNode {
  const { value, error, reload } = useLoaded('backups', listBackups)
  const [isMaking, setMaking] = useState(false)
  const [restored, setRestored] = useState<string>()
  const sorted = value?.toSorted((one, other) => (one.modified < other.modified ? 1 : -1))
  const restore = async ({ key, modified }: BackupInfo): Promise<void> => {
    const question = { title: texts.restoreTitle(key), text: texts.restoreText(modified), yes: texts.restoreYes }
    if (!(await confirm({ ...question, isDanger: true }))) return
    await restoreBackup(key)
    setRestored(key)
  }
  const remove = async ({ key }: BackupInfo): Promise<void> => {
    const question = { title: texts.deleteTitle(key), text: texts.deleteText, yes: texts.deleteYes, isDanger: true }
    if (!(await confirm(question))) return
    await deleteBackup(key)
    await reload()
  }
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <ServerHead title={texts.title} count={sorted === undefined ? '' : texts.count(sorted.length)}>
        <Button icon="refresh" label={texts.reload} onPress={reload} />
        <Upload onUploaded={reload} />
        <Button kind="primary" icon="add" onPress={() => setMaking(true)}>
          {texts.new}
        </Button>
      </ServerHead>
      <div className="view-body">
        {sorted === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
        {sorted?.length === 0 && <Notice icon="download" title={texts.none} text={texts.noneText} />}
        {sorted !== undefined && sorted.length > 0 && (
          <DataTable label={texts.title} columns={columnsOf(restore, remove)} rows={sorted} keyOf={({ key }) => key} />
        )}
        <BackupSchedule />
      </div>
      {isMaking && <NewBackup onClose={() => setMaking(false)} onMade={reload} />}
      {restored !== undefined && <Restarting name={restored} isBack={isBack} />}
    </>
  )
}

/** Whether the server is back. */
async function isBack(): Promise<boolean> {
  await health()
  return true
}

type Act = (backup: BackupInfo) => Promise<void>

function columnsOf(restore: Act, remove: Act): readonly DataColumn<BackupInfo>[] {
  const save = async (key: string): Promise<void> => {
    const link = document.createElement('a')
    link.href = await backupUrl(key)
    link.download = key
    link.click()
  }
  return [
    { name: 'key', title: texts.name, cell: ({ key }) => <code>{key}</code> },
    { name: 'size', title: texts.size, isNumber: true, cell: ({ size }) => bytesText(size) },
    { name: 'modified', title: texts.made, cell: ({ modified }) => <Moment text={modified} /> },
    {
      name: 'actions',
      title: texts.actions,
      isActions: true,
      cell: (backup) => (
        <>
          <Button kind="quiet" icon="download" label={texts.download(backup.key)} onPress={() => save(backup.key)} />
          <Button kind="quiet" icon="undo" label={texts.restore(backup.key)} onPress={() => restore(backup)}>
            {texts.restoreAction}
          </Button>
          <Button kind="quiet" icon="trash" label={texts.delete(backup.key)} onPress={() => remove(backup)} />
        </>
      ),
    },
  ]
}

function Upload({ onUploaded }: { readonly onUploaded: () => Promise<void> }): ReactNode {
  const input = useRef<HTMLInputElement>(null)
  const { isBusy, run } = useBusy()
  const upload = async (file: File): Promise<void> => {
    await uploadBackup(file)
    showDone(texts.uploaded(file.name))
    await onUploaded()
  }
  return (
    <>
      <Button icon="upload" disabled={isBusy} aria-busy={isBusy} onPress={() => input.current?.click()}>
        {texts.upload}
      </Button>
      <label className="hidden-text">
        {texts.uploadFile}
        <input
          ref={input}
          type="file"
          accept=".zip,application/zip"
          tabIndex={-1}
          onChange={({ target }) => {
            const file = target.files?.[0]
            target.value = ''
            if (file !== undefined) void run(() => upload(file))
          }}
        />
      </label>
    </>
  )
}
