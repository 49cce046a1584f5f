/** Actions on a whole collection: duplicate it, copy its definition, delete its records, delete it. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { createCollection } from '../../api/collections.ts'
import type { Collection } from '../../api/collections.ts'
import { deleteCollection, truncateCollection } from '../../api/definitions.ts'
import { ApiError } from '../../api/request.ts'
import { Button, useBusy } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy.ts'
import { CancelButton, Dialog } from '../../parts/dialog.tsx'
import { TextInput } from '../../parts/form-field.tsx'
import { Menu } from '../../parts/menu.tsx'
import type { MenuItem } from '../../parts/menu.tsx'
import { errorText, showDone } from '../../parts/toasts.tsx'
import { reloadCollections, useCollections } from '../../state/collections.ts'
import { goTo } from '../../state/route.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { START } from '../../texts/start.ts'
import { useDraft } from './drafts.ts'
import { duplicateOf } from './duplicate.ts'

const { menu: texts } = TEXTS

type Open = 'duplicate' | 'truncate' | 'delete'

export function DefinitionMenu({ collection }: { readonly collection: Collection }): ReactNode {
  const [open, setOpen] = useState<Open>()
  const isView = collection.type === 'view'
  const items: readonly MenuItem[] = [
    { label: texts.duplicate, icon: 'copy', isDisabled: collection.system, onPress: () => setOpen('duplicate') },
    { label: texts.copyJson, icon: 'json', onPress: () => copyText(JSON.stringify(collection, undefined, 2)) },
    { label: texts.truncate, icon: 'trash', isDanger: true, isDisabled: isView, onPress: () => setOpen('truncate') },
    {
      label: texts.delete,
      icon: 'trash',
      isDanger: true,
      isDisabled: collection.system,
      onPress: () => setOpen('delete'),
    },
  ]
  const close = (): void => setOpen(undefined)
  return (
    <>
      <Menu label={texts.label} icon="more" items={items} />
      {open === 'duplicate' && <Duplicate collection={collection} onClose={close} />}
      {open === 'truncate' && <Truncate collection={collection} onClose={close} />}
      {open === 'delete' && <Delete collection={collection} onClose={close} />}
    </>
  )
}

interface ActionProps {
  readonly collection: Collection
  readonly onClose: () => void
}

function Duplicate({ collection, onClose }: ActionProps): ReactNode {
  const { list } = useCollections()
  const make = async (name: string): Promise<void> => {
    const made = await createCollection(duplicateOf(collection, name, list))
    onClose()
    await reloadCollections()
    showDone(START.made(made.name))
    goTo(['fields', made.name])
  }
  return (
    <NameDialog
      title={texts.duplicateTitle(collection.name)}
      text={texts.duplicateText}
      label={texts.newName}
      initial={`${collection.name}_copy`}
      submit={texts.duplicate}
      onSubmit={make}
      onClose={onClose}
    />
  )
}

function Truncate({ collection, onClose }: ActionProps): ReactNode {
  const { name, id } = collection
  return (
    <NameDialog
      title={texts.truncateTitle(name)}
      text={texts.truncateText}
      label={texts.confirmName(name)}
      wanted={name}
      submit={texts.truncate}
      onSubmit={async () => {
        await truncateCollection(id)
        onClose()
        showDone(texts.truncated(name))
      }}
      onClose={onClose}
    />
  )
}

function Delete({ collection, onClose }: ActionProps): ReactNode {
  const { name, id } = collection
  const draft = useDraft(collection)
  return (
    <NameDialog
      title={texts.deleteTitle(name)}
      text={texts.deleteText}
      label={texts.confirmName(name)}
      wanted={name}
      submit={texts.delete}
      onSubmit={async () => {
        await deleteCollection(id)
        draft.reset()
        onClose()
        await reloadCollections()
        goTo([], {}, { replaces: true })
        showDone(texts.deleted(name))
      }}
      onClose={onClose}
    />
  )
}

interface NameDialogProps {
  readonly title: string
  readonly text: string
  readonly label: string
  readonly initial?: string
  /** The wanted text: it has to be typed, as the action can't be undone. */
  readonly wanted?: string
  readonly submit: string
  readonly onSubmit: (name: string) => Promise<void>
  readonly onClose: () => void
}

function NameDialog({
  title,
  text,
  label,
  initial = '',
  wanted,
  submit,
  onSubmit,
  onClose,
}: NameDialogProps): ReactNode {
  const [name, setName] = useState(initial)
  const [error, setError] = useState<string>()
  const { isBusy, run } = useBusy()
  const isReady = wanted === undefined ? name.trim() !== '' : name === wanted
  const send = (): Promise<void> =>
    run(() =>
      onSubmit(name.trim()).catch((failure: unknown) => {
        const ofName = failure instanceof ApiError ? failure.fields['name'] : undefined
        setError(ofName?.message ?? errorText(failure))
      }),
    )
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <CancelButton />
          <Button kind={wanted === undefined ? 'primary' : 'danger'} disabled={!isReady || isBusy} onPress={send}>
            {submit}
          </Button>
        </>
      }
    >
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady) void send()
        }}
      >
        <p className="dialog-text">{text}</p>
        <TextInput
          label={label}
          value={name}
          onValue={setName}
          error={error}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
        />
      </form>
    </Dialog>
  )
}
