/** Explains why a key cannot be rotated now, and what to do. */
import type { StatusError } from '../api/status.ts'
import { CliError } from '../io/errors.ts'
import type { ShownKey } from './server.ts'

/** Returns the error of a refused rotation, with what to do next. */
export function refusalOf(refused: StatusError, name: string, shown: ShownKey | undefined): CliError {
  const hint = hintOf(refused, name, shown)
  return hint === undefined
    ? refused
    : new CliError(refused.message, { exitCode: refused.exitCode, hint, cause: refused })
}

function hintOf({ code, message }: StatusError, name: string, shown: ShownKey | undefined): string | undefined {
  if (code === 422 && message.includes('overlapSeconds')) {
    return 'A key that rotates itself keeps its old value for an hour or more, so that its owner notices: --overlap 1h'
  }
  if (code !== 409) return undefined
  if (message.includes('the value used was rotated')) {
    return 'Your own access key is the old value. Take the new one from where it is stored: keyplane login, or KEYPLANE_KEY.'
  }
  if (shown?.retiring) {
    const { made } = shown.current ?? {}
    const since = made === undefined ? '' : ` It has had a new value since ${made}.`
    return `Nothing was changed.${since} Wait until the old one ends, or end it now if no client uses it any more: keyplane rotate ${name} --finish`
  }
  if (message.includes('role selfRotate')) {
    return `Nothing was changed, and the current value works. Repeat the command after that time, or let the owner of the key rotate it with another key: keyplane rotate ${name} --replace`
  }
  if (shown?.pending) {
    const works = shown.isDisabled || !shown.current ? '' : ', and the current value works'
    return `Nothing was changed${works}. Another run made that value: wait if it is still storing it. If it has died, the value is lost: repeat the command with --replace`
  }
  return undefined
}
