/** Asks for the id of a document. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '../../parts/button.tsx'
import { OPERATIONS } from '../../texts/operations.ts'

interface IdFormProps {
  readonly label: string
  /** The id as the address has it. */
  readonly id: string
  readonly onId: (id: string) => void
}

export function IdForm({ label, id, onId }: IdFormProps): ReactNode {
  const [text, setText] = useState(id)
  useEffect(() => setText(id), [id])
  return (
    <form
      className="from-form"
      onSubmit={(event) => {
        event.preventDefault()
        onId(text.trim())
      }}
    >
      <input
        className="input"
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit">{OPERATIONS.couchdb.go}</Button>
    </form>
  )
}
