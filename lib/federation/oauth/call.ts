/** Declares a request to an OAuth endpoint, without the event that it came in. */
import { internalContext } from '../../access/users/internalcontext.ts'
import type { Deadline } from '../../engine/meta/errors/deadline.ts'
import type { RequestContext } from '../../engine/registry/kind.ts'
import type { Form } from './form.ts'

/** What an audit record or a log line says besides its message. */
export type Facts = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** A request to an OAuth endpoint. */
export interface OAuthCall {
  requestId: string
  headers: Readonly<Record<string, string>>
  form: Form
  now: Date
  deadline: Deadline
  /** Adds facts to the audit record. Never pass a secret. */
  note(facts: Facts): void
}

/** Returns the context in which the server writes for a call, with full access. */
export const writeContext = ({ now, deadline }: Pick<OAuthCall, 'now' | 'deadline'>): RequestContext =>
  internalContext('system:exchange', now, deadline)
