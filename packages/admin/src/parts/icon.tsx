/** The icons of the page, as strokes on a square of 24. They are always beside a text or inside a named button. */
import type { ReactNode } from 'react'

const PATHS = {
  add: 'M12 5v14M5 12h14',
  archive: 'M3 5h18v4H3zM5 9v11h14V9M10 13h4',
  arrowDown: 'M12 5v14M6 13l6 6 6-6',
  arrowUp: 'M12 19V5M6 11l6-6 6 6',
  back: 'M19 12H5M11 6l-6 6 6 6',
  chart: 'M4 20V4M4 20h16M8 16v-5M13 16V7M18 16v-7',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  chevronDown: 'M6 9l6 6 6-6',
  chevronRight: 'M9 6l6 6-6 6',
  close: 'M6 6l12 12M18 6L6 18',
  code: 'M8 7l-5 5 5 5M16 7l5 5-5 5',
  collection: 'M4 6h16v4H4zM4 14h16v4H4z',
  columns: 'M4 5h16v14H4zM10 5v14M15 5v14',
  console: 'M4 5h16v14H4zM7 9l3 3-3 3M12 15h5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  database:
    'M4 6c0-1.700 3.600-3 8-3s8 1.300 8 3-3.600 3-8 3-8-1.300-8-3zM4 6v12c0 1.700 3.600 3 8 3s8-1.300 8-3V6M4 12c0 1.700 3.600 3 8 3s8-1.300 8-3',
  date: 'M4 6h16v14H4zM4 10h16M8 3v5M16 3v5',
  device: 'M4 5h16v11H4zM2 19h20',
  download: 'M12 4v11M7 11l5 5 5-5M4 20h16',
  edit: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  email: 'M3 6h18v12H3zM3 7l9 7 9-7',
  error: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 8v5M12 16v.5',
  file: 'M6 3h8l5 5v13H6zM14 3v5h5',
  filter: 'M4 5h16l-6 8v6l-4-2v-4z',
  geo: 'M12 21c5-5.5 7-8.5 7-11a7 7 0 0 0-14 0c0 2.5 2 5.5 7 11zM12 12.500a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5M12 7.500v.5',
  json: 'M9 4H8a2 2 0 0 0-2 2v4l-2 2 2 2v4a2 2 0 0 0 2 2h1M15 4h1a2 2 0 0 1 2 2v4l2 2-2 2v4a2 2 0 0 1-2 2h-1',
  key: 'M15 4a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM11.5 12.500L4 20M7 17l2.5 2.5',
  list: 'M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  menu: 'M4 7h16M4 12h16M4 17h16',
  minus: 'M5 12h14',
  more: 'M5 11.3a.7.7 0 1 0 .1 0M12 11.3a.7.7 0 1 0 .1 0M19 11.3a.7.7 0 1 0 .1 0',
  number: 'M9 4L7 20M17 4l-2 16M4 9h17M3 15h17',
  pin: 'M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v6',
  refresh: 'M20 12a8 8 0 1 1-2.5-5.800M20 4v5h-5',
  relation:
    'M6 4a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM18 15a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM6 9v4a4 4 0 0 0 4 4h5',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
  signOut: 'M14 4H5v16h9M10 12h11M17 8l4 4-4 4',
  system:
    'M12 8.500a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.600l2.2 2.200M16.2 16.200l2.2 2.200M18.4 5.600l-2.2 2.200M7.8 16.200l-2.2 2.2',
  text: 'M5 6V5h14v1M12 5v14M9 19h6',
  theme: 'M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16',
  toggle: 'M8 7h8a5 5 0 0 1 0 10H8A5 5 0 0 1 8 7zM8 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  undo: 'M4 9h11a5 5 0 0 1 0 10h-4M8 5L4 9l4 4',
  upload: 'M12 16V5M7 9l5-5 5 5M4 20h16',
  url: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.700L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.700L12 17',
  users:
    'M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM3 20c0-3.5 2.5-5.5 6-5.500s6 2 6 5.500M16 5.500a3.5 3.5 0 0 1 0 6.500M17.5 14.800c2.2.600 3.5 2.3 3.5 5.2',
  view: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.500a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, className = '' }: { readonly name: IconName; readonly className?: string }): ReactNode {
  return (
    <svg className={`icon ${className}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  )
}

/** The mark of the project: a pannier. */
export function Mark(): ReactNode {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path className="mark-strap" d="M6.5 14a9.5 10 0 0 1 19 0" />
      <rect className="mark-left" x="2" y="13" width="12" height="15" rx="4" />
      <rect className="mark-right" x="18" y="13" width="12" height="15" rx="4" />
    </svg>
  )
}
