import type { ComponentChildren } from 'preact'
import { type ErrorWords, errorWords } from '../api/status.ts'
import { Paragraph } from './foreign.tsx'

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
export const ErrorNotice = ({ error, children }: { error: unknown; children?: ComponentChildren }) => (
  <WordsNotice tone="bad" {...errorWords(error)}>
    {children}
  </WordsNotice>
)

export function WordsNotice({ details, next, children, ...notice }: NoticeProps & ErrorWords) {
  return (
    <Notice {...notice}>
      {details.map((detail) => (
        <Paragraph text={detail} key={detail} />
      ))}
      {next && <p>{next}</p>}
      {children}
    </Notice>
  )
}
