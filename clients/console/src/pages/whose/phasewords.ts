/** Puts the phase of a lookup into words. */
import type { KeyLookup } from '../../../../core/src/objects.ts'

/** Returns what the phase means for whoever has the value. Servers of other releases may have other phases. */
export function phaseWords(phase: string | undefined): string {
  switch (phase) {
    case 'Active':
      return 'Active: the value works'
    case 'Ended':
      return 'The key does not have this value any more'
    case 'Disabled':
    case 'Unused':
    case 'Expired':
    case 'Terminating':
      return `${phase}: the value does not work`
    default:
      return phase ?? 'unknown'
  }
}

/** Returns what is true after a report, and whether the value has ended. `before` and `after` are what the server said of the value. */
export function reportWords(before: KeyLookup, after: KeyLookup | undefined): { isEnded: boolean; text: string } {
  const REFUSED = 'Tokens made with it are refused within 30 seconds.'
  if (before.name === undefined || after === undefined) {
    const unless = 'unless this deployment only records reports'
    return { isEnded: true, text: `If it was a valid value of this server, it has ended, ${unless}. ${REFUSED}` }
  }
  if (after.uid !== before.uid) return { isEnded: true, text: `Its key is deleted. ${REFUSED}` }
  if (after.phase === 'Ended') return { isEnded: true, text: `The value has ended, and never works again. ${REFUSED}` }
  const kept = 'This deployment only records reports, and has ended nothing.'
  return { isEnded: false, text: `${kept} ${phaseWords(after.phase)}.` }
}
