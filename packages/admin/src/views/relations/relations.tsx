/** A diagram of all collections and their relations. */
import { useMemo, useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '../../parts/button.tsx'
import { Notice } from '../../parts/loading.tsx'
import { useCollections } from '../../state/collections.ts'
import { changeQuery, linkTo, useRoute } from '../../state/route.ts'
import { pixelsOf } from '../../state/theme.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { isRelation, layoutOf } from './layout.ts'
import type { Box, Edge, Layout } from './layout.ts'
import sheet from './relations.css'

const { relations: texts } = TEXTS
const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5]
const RIGHT = 10

export function View(): ReactNode {
  const { list } = useCollections()
  const { query } = useRoute()
  const [zoom, setZoom] = useState(2)
  const withSystem = query['system'] === 'yes'
  const shown = useMemo(() => list.filter(({ system }) => withSystem || !system), [list, withSystem])
  const layout = useMemo(() => layoutOf(shown), [shown])
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <header className="view-head">
        <h1>{texts.title}</h1>
        <span className="view-count" role="status">
          {texts.count(layout.boxes.length, layout.edges.length)}
        </span>
        <div className="view-actions">
          <label className="choice">
            <input
              type="checkbox"
              checked={withSystem}
              onChange={({ target }) => changeQuery({ system: target.checked ? 'yes' : undefined })}
            />
            {texts.withSystem}
          </label>
          <Button label={texts.smaller} icon="minus" disabled={zoom === 0} onPress={() => setZoom(zoom - 1)} />
          <Button
            label={texts.larger}
            icon="add"
            disabled={zoom === ZOOMS.length - 1}
            onPress={() => setZoom(zoom + 1)}
          />
        </div>
      </header>
      {shown.length === 0 ? (
        <Notice icon="relation" title={texts.none} />
      ) : (
        <>
          <div className="diagram" role="region" aria-label={texts.title} tabIndex={0}>
            <Diagram layout={layout} zoom={ZOOMS[zoom]!} />
          </div>
          <AsList edges={layout.edges} />
        </>
      )}
    </>
  )
}

/** A diagram. The relations of a box are marked while it has the focus or the pointer. */
function Diagram({
  layout: { boxes, edges, width, height },
  zoom,
}: {
  readonly layout: Layout
  readonly zoom: number
}): ReactNode {
  const [marked, setMarked] = useState<string>()
  const isMarked = ({ from, to }: Edge): boolean => from.id === marked || to.id === marked
  return (
    <svg
      style={{ width: pixelsOf((width * zoom) / 16), height: pixelsOf((height * zoom) / 16) }}
      viewBox={`0 0 ${width} ${height}`}
      role="group"
      aria-label={texts.title}
    >
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
          <path d="M0 0L8 4L0 8z" />
        </marker>
      </defs>
      {boxes.map((box) => (
        <BoxOf key={box.collection.id} box={box} onMark={setMarked} />
      ))}
      {edges.map((edge) => (
        <path
          key={`${edge.from.id} ${edge.field.id}`}
          className={`edge ${isMarked(edge) ? 'edge-marked' : ''}`}
          d={edge.path}
          markerEnd="url(#arrow)"
        />
      ))}
    </svg>
  )
}

function BoxOf({ box, onMark }: { readonly box: Box; readonly onMark: (id: string | undefined) => void }): ReactNode {
  const { collection, x, y, width, height, fields, more } = box
  const { id, name } = collection
  const mark = (): void => onMark(id)
  const unmark = (): void => onMark(undefined)
  return (
    <a
      className="box"
      href={linkTo(['fields', name])}
      onFocus={mark}
      onBlur={unmark}
      onMouseEnter={mark}
      onMouseLeave={unmark}
    >
      <g transform={`translate(${x} ${y})`}>
        <rect width={width} height={height} rx="9" />
        <text className="box-name" x="12" y="23">
          {cut(name)}
        </text>
        {fields.map(({ field, y: middle }) => (
          <g key={field.id} className={isRelation(field) ? 'box-relation' : 'box-field'}>
            <text x="12" y={middle + 4}>
              {cut(field.name)}
            </text>
            <text className="box-type" x={width - RIGHT} y={middle + 4} textAnchor="end">
              {typeText(field.type, (field.maxSelect ?? 1) > 1)}
            </text>
          </g>
        ))}
        {more > 0 && (
          <text className="box-type" x="12" y={height - 12}>
            {texts.more(more)}
          </text>
        )}
      </g>
    </a>
  )
}

const CHARS_MAX = 17

function cut(name: string): string {
  return name.length > CHARS_MAX ? `${name.slice(0, CHARS_MAX - 1)}…` : name
}

function typeText(type: string, isMany: boolean): string {
  return isMany ? texts.many(type) : type
}

/** The relations as a list, for people who do not see the lines. */
function AsList({ edges }: { readonly edges: readonly Edge[] }): ReactNode {
  if (edges.length === 0) return null
  return (
    <details className="diagram-list">
      <summary>{texts.asList}</summary>
      <ul>
        {edges.map(({ from, to, field }) => (
          <li key={`${from.id} ${field.id}`}>
            <a href={linkTo(['fields', from.name])}>{from.name}</a>.{field.name} →{' '}
            <a href={linkTo(['fields', to.name])}>{to.name}</a>
            {(field.maxSelect ?? 1) > 1 && ` ${texts.listOf}`}
            {field.cascadeDelete === true && ` ${texts.cascade}`}
          </li>
        ))}
      </ul>
    </details>
  )
}
