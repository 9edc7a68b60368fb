import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { errorWords } from '../api/status.ts'
import type { Query } from '../session/usequery.ts'
import { ErrorNotice, Notice } from './notice.tsx'
import { Time } from './time.tsx'

export interface PageProps {
  title: string
  /** A line below the title. */
  about?: ComponentChildren
  /** Buttons and links at the right. */
  actions?: ComponentChildren
  children: ComponentChildren
}

/** Shows the title, the actions and the content of a page. A new page begins at its top, with its heading, also for screen readers. */
export function Page({ title, about, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    window.scrollTo(0, 0)
    heading.current?.focus()
  }, [])
  return (
    <>
      <header class="page">
        <div>
          <h1 tabIndex={-1} ref={heading}>
            {title}
          </h1>
          {about && <p class="muted">{about}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}

export interface FreshProps<T> {
  query: Query<T>
  children(data: T): ComponentChildren
}

/**
 * Shows what a query has read, or that it loads, or why it failed. If a later attempt fails, the data stays, below a line that says
 * how old it is.
 */
export function Fresh<T>({ query, children }: FreshProps<T>) {
  const { data, at, error, refresh } = query
  const again = (
    <button type="button" onClick={() => void refresh()}>
      Try again
    </button>
  )
  if (data === undefined) {
    return error === undefined ? <p class="loading">Loading…</p> : <ErrorNotice error={error}>{again}</ErrorNotice>
  }
  const words = error === undefined ? undefined : errorWords(error)
  return (
    <>
      {words && (
        <Notice tone="warn" title={`This page could not be refreshed. ${words.title}`}>
          <p>
            You see what it was <Time at={(at ?? new Date()).toISOString()} direction="past" />. The console tries again
            by itself. {again}
          </p>
        </Notice>
      )}
      {children(data)}
    </>
  )
}
