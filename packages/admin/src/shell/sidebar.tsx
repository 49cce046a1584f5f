/** Collections with a search, the views of the server, and the account. */
import { useEffect, useRef, useState } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import type { Account } from '../api/accounts.ts'
import type { Collection } from '../api/collections.ts'
import { Icon, Mark } from '../parts/icon.tsx'
import type { IconName } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { useCollections } from '../state/collections.ts'
import { keep, readKept } from '../state/kept.ts'
import { linkTo, useRoute } from '../state/route.ts'
import { useDevice } from '../state/device/device.ts'
import { useStore } from '../state/store.ts'
import { chooseTheme, theme } from '../state/theme.ts'
import type { Theme } from '../state/theme.ts'
import { TEXTS } from '../texts.ts'
import { COLLECTION_VIEWS, SERVER_VIEWS } from '../views.ts'
import { leave } from './leave.ts'

const ICONS: Readonly<Record<Collection['type'], IconName>> = { base: 'collection', auth: 'users', view: 'view' }
const SYSTEM_OPEN = 'system-open'
const SERVER_OPEN = 'server-open'
/** The view of what this device keeps. */
const DEVICE = 'device'
const { shell } = TEXTS

export function Sidebar({ account }: { readonly account: Account }): ReactNode {
  const { list } = useCollections()
  const [search, setSearch] = useState('')
  const [isSystemOpen, setSystemOpen] = useState(readKept<boolean>(SYSTEM_OPEN) ?? false)
  const wanted = search.trim().toLowerCase()
  const found = list.filter(({ name, id }) => name.toLowerCase().includes(wanted) || id === search.trim())
  const own = found.filter(({ system }) => !system)
  const system = found.filter((one) => one.system)
  return (
    <aside className="sidebar" aria-label={shell.sidebar} onKeyDown={moveByArrows}>
      <a className="brand" href={linkTo([])}>
        <Mark /> <span>Pannier</span>
      </a>
      <SearchBox value={search} onValue={setSearch} />
      <nav className="sidebar-list" aria-label={shell.collections}>
        <div className="sidebar-head">
          <h2>{shell.collections}</h2>
          <a
            className="button button-quiet button-icon"
            href={linkTo(['new'])}
            aria-label={shell.newCollection}
            title={shell.newCollection}
          >
            <Icon name="add" />
          </a>
        </div>
        <CollectionLinks list={own} />
        {system.length > 0 && (
          <details
            open={isSystemOpen || wanted !== ''}
            onToggle={({ currentTarget: { open } }) => {
              if (wanted !== '') return
              setSystemOpen(open)
              keep(SYSTEM_OPEN, open)
            }}
          >
            <summary>{shell.system}</summary>
            <CollectionLinks list={system} />
          </details>
        )}
        {found.length === 0 && <p className="sidebar-none">{shell.noCollection}</p>}
      </nav>
      {SERVER_VIEWS.length > 0 && <ServerLinks />}
      <div className="sidebar-foot">
        <AccountMenu account={account} />
        <ThemeMenu />
      </div>
    </aside>
  )
}

function SearchBox({
  value,
  onValue,
}: {
  readonly value: string
  readonly onValue: (value: string) => void
}): ReactNode {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: globalThis.KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      input.current?.focus()
      input.current?.select()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  return (
    <div className="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        className="input"
        placeholder={shell.search}
        aria-label={shell.search}
        aria-keyshortcuts="Control+K"
        value={value}
        onChange={({ target }) => onValue(target.value)}
      />
      <kbd aria-hidden="true">Ctrl K</kbd>
    </div>
  )
}

function CollectionLinks({ list }: { readonly list: readonly Collection[] }): ReactNode {
  const { path } = useRoute()
  const [view = '', current = ''] = path
  // The tab stays the same from one collection to the next, if that one has it.
  const tab = COLLECTION_VIEWS.find(({ name }) => name === view)
  const first = COLLECTION_VIEWS[0]!.name
  return (
    <ul className="links">
      {list.map((collection) => {
        const { id, name, type } = collection
        const target = tab?.isFor === undefined || tab.isFor(collection) ? (tab?.name ?? first) : first
        return (
          <li key={id}>
            <a href={linkTo([target, name])} aria-current={current === name || current === id ? 'page' : undefined}>
              <Icon name={ICONS[type]} />
              <span title={name}>{name}</span>
            </a>
          </li>
        )
      })}
    </ul>
  )
}

function ServerLinks(): ReactNode {
  const { path } = useRoute()
  const [isOpen, setOpen] = useState(readKept<boolean>(SERVER_OPEN) ?? true)
  const { state } = useDevice()
  const waiting = (state?.unsent ?? 0) + (state?.rejected ?? 0)
  return (
    <nav className="sidebar-views" aria-label={shell.server}>
      <details
        open={isOpen}
        onToggle={({ currentTarget: { open } }) => {
          setOpen(open)
          keep(SERVER_OPEN, open)
        }}
      >
        <summary>{shell.server}</summary>
        <ul className="links">
          {SERVER_VIEWS.map(({ name, title, icon }) => (
            <li key={name}>
              <a href={linkTo([name])} aria-current={path[0] === name ? 'page' : undefined}>
                <Icon name={icon} />
                <span>{title}</span>
                {name === DEVICE && waiting > 0 && <span className="badge badge-bad">{shell.waiting(waiting)}</span>}
              </a>
            </li>
          ))}
        </ul>
      </details>
    </nav>
  )
}

function AccountMenu({ account }: { readonly account: Account }): ReactNode {
  const items = [{ label: shell.signOut, icon: 'signOut', onPress: leave } as const]
  return (
    <Menu label={shell.account} icon="users" items={items} side="above" className="button-quiet account">
      {account.email}
    </Menu>
  )
}

function ThemeMenu(): ReactNode {
  const chosen = useStore(theme)
  const items = (['system', 'light', 'dark'] as const satisfies readonly Theme[]).map((name) => ({
    label: shell.themes[name],
    isChecked: chosen === name,
    onPress: () => chooseTheme(name),
  }))
  return <Menu label={shell.theme} icon="theme" items={items} side="above" className="button-quiet" />
}

/** Up and down go through all that can be pressed, as Tab does. */
function moveByArrows(event: KeyboardEvent<HTMLElement>): void {
  if ((event.key !== 'ArrowDown' && event.key !== 'ArrowUp') || event.defaultPrevented) return
  const all = event.currentTarget.querySelectorAll<HTMLElement>('input, .links a, summary')
  const shown = [...all].filter((element) => element.checkVisibility())
  const at = shown.indexOf(document.activeElement as HTMLElement)
  const next = shown[at + (event.key === 'ArrowDown' ? 1 : -1)]
  if (at < 0 || next === undefined) return
  event.preventDefault()
  next.focus()
}
