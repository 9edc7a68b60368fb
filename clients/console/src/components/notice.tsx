import type { ComponentChildren } from 'preact'
import { errorWords } from '../api/status.ts'
import { Foreign } from './foreign.tsx'

export interface NoticeProps {
  tone: 'good' | 'warn' | 'bad' | 'plain'
  title: string
  children?: ComponentChildren
}

/** Shows a message in a box. Screen readers announce bad ones at once. */
export function Notice({ tone, title, children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <strong>{title}</strong>
      {children}
    </div>
  )
}

/** Shows in words what went wrong and what to do next. */
export function ErrorNotice({ error, children }: { error: unknown; children?: ComponentChildren }) {
  const { title, details, next } = errorWords(error)
  return (
    <Notice tone="bad" title={title}>
      {details.map((detail) => (
        <p key={detail}>
          <Foreign text={detail} />
        </p>
      ))}
      {next && <p>{next}</p>}
      {children}
    </Notice>
  )
}
