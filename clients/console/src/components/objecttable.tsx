import type { ComponentChild, ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { drawnRows, type Heights, heightBetween, nextRows, rowsBetween } from './drawnrows.ts'
import { Foreign, NameLink } from './foreign.tsx'

/** The class of a column is also its name where the table is sorted. */
export type Column<T> = readonly [title: string, cell: (item: T) => ComponentChildren, className?: string]

interface TableProps<T> {
  /** What is listed, such as `Trusts`. */
  of: string
  items: readonly T[]
  /** The titles of the columns with what is in them, unless they are left out. The first one names the object. */
  columns: readonly (Column<T> | false | undefined)[]
  keyOf(item: T): string
  /** The class of a row. */
  classOf?(item: T): string
  /** What selects a row, before its columns. */
  select?(item: T): ComponentChildren
  /** The order, whose headers sort. */
  sort?: { column: string; isDown: boolean; choose(column: string): void }
}

/** From this number on there is a filter. */
const MANY = 8

/** Shows objects that one can filter, each in a line. On a phone each is a card. */
export function ObjectTable<T>({ textOf, ...table }: TableProps<T> & { textOf(item: T): string }) {
  const { of, items } = table
  const [filter, setFilter] = useState('')
  const words = filter.trim().toLowerCase().split(/\s+/)
  const found = items.filter((one) => {
    const text = textOf(one).toLowerCase()
    return words.every((word) => text.includes(word))
  })
  return (
    <div class="objects">
      {items.length >= MANY && (
        <div class="filter">
          <input
            type="search"
            aria-label={`Filter ${of}`}
            placeholder={`Filter ${of}`}
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
          <span role="status">
            {found.length} of {items.length}
          </span>
        </div>
      )}
      <Table {...table} items={found} />
    </div>
  )
}

/** Rows count from 1, and the head is the first one. */
const FIRST_ROW = 2

/** Shows objects in a table that draws the rows near what is visible, and keeps the focus in it. */
export function Table<T>({ of, items, columns, keyOf, classOf, select, sort }: TableProps<T>) {
  const box = useRef<HTMLTableElement>(null)
  const { drawn, heightOf, look } = useDrawn(box, items)
  const follow = useRowFocus(box, items, keyOf)
  const shown = useMemo(() => columns.filter((one) => one !== false && one !== undefined), [columns])
  // The same elements are not drawn again, such as when somebody selects a key.
  const rows = useMemo(() => new Map<number, ComponentChild>(), [items, shown])
  const rowOf = (one: T, at: number) => (
    <tr class={classOf?.(one)} aria-rowindex={at + FIRST_ROW} key={keyOf(one)}>
      {select && <td class="select">{select(one)}</td>}
      {shown.map(([title, cell, name]) => (
        <td class={name} data-title={title} key={title}>
          {cell(one)}
        </td>
      ))}
    </tr>
  )
  for (const at of drawn) {
    const one = items[at]
    if (one !== undefined && !rows.has(at)) rows.set(at, rowOf(one, at))
  }
  const far = (from: number, to: number) =>
    from < to && (
      // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in a gap can have the focus.
      <tr aria-hidden="true" key={`${from}-`}>
        <td class="far" style={{ height: `${heightOf(from, to)}px` }} />
      </tr>
    )
  return (
    <table aria-label={of} aria-rowcount={items.length + 1} ref={box} onFocusIn={(event) => [follow(event), look()]}>
      <thead>
        <tr>
          {select && (
            <th scope="col" class="select">
              <span class="hidden">Select</span>
            </th>
          )}
          {shown.map(([title, , name = title]) => {
            const order = sort?.isDown ? 'descending' : 'ascending'
            return (
              <th scope="col" class={name} aria-sort={name === sort?.column ? order : undefined} key={name}>
                {sort ? (
                  <button type="button" class="quiet" onClick={() => sort.choose(name)}>
                    {title}
                  </button>
                ) : (
                  title
                )}
              </th>
            )
          })}
        </tr>
      </thead>
      <tbody>
        {drawn.flatMap((at, index) => [far((drawn[index - 1] ?? -1) + 1, at), rows.get(at)])}
        {far((drawn.at(-1) ?? -1) + 1, items.length)}
      </tbody>
    </table>
  )
}

type Box = { readonly current: HTMLTableElement | null }

/** So far around the window is near, in pixels: what the next turn of a wheel shows. */
const MARGIN = 400
/** The height of a row before one is drawn, in pixels. */
const ROW_HEIGHT = 46

/** A table of so few rows is drawn as a whole. */
const FEW = 16
const FIRST = Array.from({ length: FEW }, (_, row) => row)

/** What was visible, and what is drawn. The rows of other items are drawn where it was visible first, which takes less time. */
interface Seen {
  items?: readonly unknown[]
  visible: readonly number[]
  rows: readonly number[]
  focused?: number
}

/** Tells which rows are drawn, and how high the others are. `look` follows what is visible. */
function useDrawn(box: Box, items: readonly unknown[]) {
  const [seen, setSeen] = useState<Seen>({ visible: FIRST, rows: FIRST })
  const usual = useRef<number>(undefined)
  const others = useRef(new Map<number, number>()).current
  const heights = (): Heights => ({ usual: usual.current ?? ROW_HEIGHT, others })
  const drawn = drawnRows(seen.items === items ? seen.rows : seen.visible, seen.focused, items.length)
  const look = () => {
    if (!box.current) return
    const { tBodies, tHead } = box.current
    for (const row of tBodies[0]?.rows ?? []) {
      const at = rowAt(row)
      if (at < 0) continue
      usual.current ??= row.offsetHeight
      if (row.offsetHeight === usual.current) others.delete(at)
      else others.set(at, row.offsetHeight)
    }
    const top = -box.current.getBoundingClientRect().top - (tHead?.offsetHeight ?? 0)
    const around = (margin: number) =>
      items.length <= FEW ? FIRST : rowsBetween(top - margin, top + innerHeight + margin, items.length, heights())
    const visible = around(0)
    const at = box.current.contains(document.activeElement) ? rowAt(document.activeElement) : -1
    const next = { visible, rows: nextRows(around(MARGIN), visible, drawn), ...(at >= 0 && { focused: at }) }
    const { items: before, ...rest } = seen
    if (before !== items || JSON.stringify(rest) !== JSON.stringify(next)) setSeen({ ...next, items })
  }
  const latest = useRef(look)
  latest.current = look
  useEffect(look)
  useEffect(() => {
    const follow = () => latest.current()
    const measure = () => {
      usual.current = undefined
      others.clear()
      follow()
    }
    // What is above the table may change too.
    const observer = new ResizeObserver(follow)
    observer.observe(document.body)
    addEventListener('scroll', follow, { passive: true })
    addEventListener('resize', measure)
    return () => {
      observer.disconnect()
      removeEventListener('scroll', follow)
      removeEventListener('resize', measure)
    }
  }, [])
  return { look, drawn, heightOf: (from: number, to: number) => heightBetween(from, to, heights()) }
}

/** Returns the index of the row with an element, below 0 if it is in none. */
const rowAt = (element: Element | null): number =>
  Number(element?.closest('[aria-rowindex]')?.getAttribute('aria-rowindex') ?? 0) - FIRST_ROW

/**
 * When the row with the focus goes away, such as a key that somebody else deleted, the focus moves to the row in its place. Returns
 * what to do when a part of the table gets the focus.
 */
function useRowFocus<T>(box: Box, items: readonly T[], keyOf: (item: T) => string) {
  const last = useRef<{ element: Element; item: string; at: number }>(undefined)
  // With the row: later, on a slow machine, the page would have moved the focus to its heading.
  useLayoutEffect(() => {
    if (!last.current || last.current.element.isConnected || document.activeElement !== document.body) return
    const { item, at } = last.current
    const now = items.findIndex((one) => keyOf(one) === item)
    const place = now >= 0 ? now : Math.min(at, items.length - 1)
    const link = box.current?.querySelector<HTMLElement>(`[aria-rowindex="${place + FIRST_ROW}"] a`)
    link?.focus({ preventScroll: true })
  }, [items])
  return ({ target }: FocusEvent) => {
    const element = target as Element
    const at = rowAt(element)
    const one = items[at]
    last.current = one === undefined ? undefined : { element, item: keyOf(one), at }
  }
}

/** Names an object in its first column, with what people call it. */
export const Named = ({ name, called, href }: { name: string; called?: string | undefined; href: string }) => (
  <>
    <NameLink href={href} text={name} />
    {called && <Foreign text={called} class="muted" />}
  </>
)
