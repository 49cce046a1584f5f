/** Whether a collection is kept on this device: a button in the head of its records, and what one chooses. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import { checkPart } from '../../api/sync.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { bytesText, numberText } from '../../parts/figures.tsx'
import { Form } from '../../parts/form.tsx'
import { TextInput } from '../../parts/form-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { errorText, showDone } from '../../parts/toasts.tsx'
import { canBeKept, useDevice } from '../../state/device/device.ts'
import { keepCollection } from '../../state/device/device-replica.ts'
import { useEnvironment } from '../../environment.ts'
import { linkTo } from '../../state/route.ts'
import { DEVICE } from '../../texts/device.ts'
import { useSizes } from './use-writes.ts'

const { keep: texts } = DEVICE
/** The number of records that are many: from then on the dialog warns. */
const MANY = 200_000

interface KeepProps {
  readonly collection: Collection
  readonly count: number | undefined
  /** The filter of the list. */
  readonly filter: string
}

export function KeepButton(props: KeepProps): ReactNode {
  const { collection } = props
  const { kept } = useDevice()
  const [isOpen, setOpen] = useState(false)
  if (kept.some(({ id }) => id === collection.id)) return <KeptLink name={collection.name} />
  if (!canBeKept(collection)) return null
  return (
    <>
      <Button icon="device" label={texts.action} onPress={() => setOpen(true)} />
      {isOpen && <KeepDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

/** A link to a collection: its progress, then its size. */
function KeptLink({ name }: { readonly name: string }): ReactNode {
  const { state } = useDevice()
  const size = useSizes().get(name)
  const isWhole = state?.incomplete.includes(name) === false
  const count = size === undefined ? '' : numberText(size.records)
  const bytes = size?.bytes === undefined ? '' : `, ${bytesText(size.bytes)}`
  return (
    <a className="button button-plain button-short" href={linkTo(['device'])} title={texts.open}>
      {isWhole ? <Icon name="device" /> : <span className="spinner" aria-hidden="true" />}
      <span className="button-text">{isWhole ? texts.is(`${count}${bytes}`) : texts.loading(count)}</span>
    </a>
  )
}

function KeepDialog({ collection, count, filter, onClose }: KeepProps & { readonly onClose: () => void }): ReactNode {
  const environment = useEnvironment()
  const [isPart, setPart] = useState(filter !== '')
  const [part, setPartFilter] = useState(filter)
  const [error, setError] = useState<string>()
  const save = async (): Promise<string | undefined> => {
    const wanted = isPart ? part.trim() : ''
    setError(undefined)
    // A mistake in it would stop the copying of all collections.
    if (wanted !== '')
      try {
        await checkPart(collection.name, wanted)
      } catch (refusal) {
        setError(errorText(refusal))
        return undefined
      }
    await keepCollection({ id: collection.id, filter: wanted }, environment)
    showDone(texts.kept(collection.name))
    onClose()
    return undefined
  }
  return (
    <Dialog title={texts.title(collection.name)} onClose={onClose}>
      <p className="dialog-text">{texts.text}</p>
      <p className="dialog-text">
        <Icon name="lock" /> {DEVICE.kept.sensitive}
      </p>
      <Form onSubmit={save} submit={texts.submit}>
        <fieldset className="choices choices-column">
          <legend>{texts.which}</legend>
          <label className="choice">
            <input type="radio" name="part" checked={!isPart} onChange={() => setPart(false)} />
            {texts.all(filter === '' ? count : undefined)}
          </label>
          <label className="choice">
            <input type="radio" name="part" checked={isPart} onChange={() => setPart(true)} />
            {texts.filtered}
          </label>
        </fieldset>
        {isPart && (
          <TextInput label={texts.filter} value={part} onValue={setPartFilter} help={texts.filterHelp} error={error} />
        )}
        {!isPart && (count ?? 0) > MANY && <p role="status">{texts.large}</p>}
      </Form>
    </Dialog>
  )
}
