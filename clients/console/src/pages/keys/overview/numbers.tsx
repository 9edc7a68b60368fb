import { MAX_LISTED } from '../../../api/lists.ts'
import { DocumentationLink } from '../../../components/documentationlink.tsx'
import { Bars } from './bars.tsx'
import type { Overview } from './counts.ts'

export interface NumbersProps {
  overview: Overview
  /** Whether there are more keys than were read. */
  more: boolean
  totals: readonly { title: string; text: string; href: string }[]
}

/** Shows the numbers of the overview. */
export function Numbers({ overview: { owners, otherOwners, exchanges }, more, totals }: NumbersProps) {
  const part = more ? `Of the first ${MAX_LISTED} keys. ` : ''
  return (
    <>
      {more && (
        <p class="hint" role="status">
          These numbers count the first {MAX_LISTED} of more keys.
        </p>
      )}
      <ul class="totals">
        {totals.map(({ title, text, href }) => (
          <li key={title}>
            <a href={href}>
              <strong>{text}</strong> {title}
            </a>
          </li>
        ))}
      </ul>
      <div class="numbers">
        <Bars
          title="Owners with the most keys"
          head="Owner"
          counts={owners}
          about={`${part}${otherOwners > 0 ? `There are ${otherOwners} more owners. ` : ''}Keys of exchanges are left out.`}
          none="There are no keys."
        />
        <div>
          <Bars
            title="Exchanges by trust"
            head="Trust"
            counts={exchanges}
            about={`${part}Keys of exchanges that work now. They end within a day.`}
            none="No key of an exchange works now."
          />
          <section class="card">
            <h2>Refusals</h2>
            <p class="muted">
              How many requests were refused, and why, is in the metrics <code>authorizations</code> and{' '}
              <code>exchanges</code> of the deployment, which the console does not read:{' '}
              <DocumentationLink page="monitoring" />.
            </p>
          </section>
        </div>
      </div>
    </>
  )
}
