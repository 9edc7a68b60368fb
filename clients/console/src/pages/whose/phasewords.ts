/** Puts the phase of a lookup into words. */

/** Returns what the phase means for whoever has the value. Servers of other releases may have other phases. */
export function phaseWords(phase: string | undefined): string {
  switch (phase) {
    case 'Active':
      return 'Active: the value works'
    case 'Ended':
      return 'The key does not have this value any more'
    case 'Disabled':
    case 'Expired':
    case 'Terminating':
      return `${phase}: the value does not work`
    default:
      return phase ?? 'unknown'
  }
}
