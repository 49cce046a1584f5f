/** The filter, in the language of rules. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { ApiError } from '../../api/request.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { errorText } from '../../parts/toasts.tsx'
import { TEXTS } from '../../texts.ts'

const { filter: texts } = TEXTS.records

interface FilterBarProps {
  readonly filter: string
  /** What the list has failed with. */
  readonly error: unknown
  readonly onFilter: (filter: string) => void
}

export function FilterBar({ filter, error, onFilter }: FilterBarProps): ReactNode {
  const [text, setText] = useState(filter)
  useEffect(() => setText(filter), [filter])
  const isWrong = filter !== '' && error instanceof ApiError && error.status === 400
  return (
    <form
      className="filter"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        onFilter(text)
      }}
    >
      <div className="search filter-box">
        <Icon name="filter" />
        <input
          className="input"
          aria-label={texts.label}
          aria-invalid={isWrong || undefined}
          aria-describedby={isWrong ? 'filter-error' : undefined}
          placeholder={texts.placeholder}
          spellCheck={false}
          autoCapitalize="off"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </div>
      {filter !== '' && <Button kind="quiet" icon="close" label={texts.clear} onPress={() => onFilter('')} />}
      {isWrong && (
        <p className="field-error" id="filter-error" role="alert">
          {errorText(error)}
        </p>
      )}
    </form>
  )
}
