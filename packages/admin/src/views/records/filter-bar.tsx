/** The filter of the table, in the language of rules. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import { quoted } from '../../api/records.ts'
import { ApiError } from '../../api/request.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { errorText } from '../../parts/toasts.tsx'
import { TEXTS } from '../../texts.ts'
import { filterOf } from '../field-types.ts'
import { RuleEditor, useRuleCheck } from '../rule-editor.tsx'

const { filter: texts } = TEXTS.records

interface FilterBarProps {
  readonly collection: Collection
  readonly filter: string
  /** The error of the list. */
  readonly error: unknown
  /** The words of the full text. */
  readonly search: string
  readonly onFilter: (filter: string) => void
  readonly onSearch: (words: string) => void
}

export function FilterBar({ collection, filter, search, error, onFilter, onSearch }: FilterBarProps): ReactNode {
  const [text, setText] = useState(filter)
  useEffect(() => setText(filter), [filter])
  const check = useRuleCheck(collection)
  const apply = (): void => onFilter(filterOf(text.trim(), collection))
  const isRefused = filter !== '' && error instanceof ApiError && error.status === 400
  // The check of the page says where; the server has the last word.
  const [mistake] = isRefused ? check(filter) : []
  return (
    <search className="filter">
      {collection.fields.some(({ searchable }) => searchable === true) && (
        <SearchBox search={search} onSearch={onSearch} />
      )}
      <div className={`filter-box ${isRefused ? 'filter-wrong' : ''}`}>
        <Icon name="filter" />
        <RuleEditor
          collection={collection}
          label={texts.label}
          hint={texts.placeholder}
          value={text}
          onValue={setText}
          isSingleLine
          onSubmit={apply}
        />
        {text.trim() !== filter && (
          <Button kind="primary" onPress={apply}>
            {texts.apply}
          </Button>
        )}
        {filter !== '' && (
          <Button
            kind="quiet"
            icon="close"
            label={texts.clear}
            onPress={() => {
              setText('')
              onFilter('')
            }}
          />
        )}
      </div>
      {isRefused && (
        <p className="field-error" role="alert">
          {mistake === undefined ? errorText(error) : texts.at(mistake.at + 1, mistake.message)}
        </p>
      )}
    </search>
  )
}

interface SearchBoxProps {
  readonly search: string
  readonly onSearch: (words: string) => void
}

/** Full text, in the fields that are searchable. */
function SearchBox({ search, onSearch }: SearchBoxProps): ReactNode {
  const [text, setText] = useState(search)
  useEffect(() => setText(search), [search])
  return (
    <form
      className="search-box"
      onSubmit={(event) => {
        event.preventDefault()
        onSearch(text.trim())
      }}
    >
      <input
        className="input"
        type="search"
        aria-label={TEXTS.records.search}
        placeholder={TEXTS.records.search}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          if (target.value === '') onSearch('')
        }}
      />
    </form>
  )
}

/** The filter that the server gets: full text is a part of it. */
export function wholeFilter(words: string, filter: string): string {
  if (words === '') return filter
  const search = `search(${quoted(words)})`
  return filter === '' ? search : `${search} && (${filter})`
}
