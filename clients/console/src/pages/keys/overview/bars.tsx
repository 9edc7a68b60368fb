import { useId } from 'preact/hooks'
import { Foreign } from '../../../components/foreign.tsx'
import { visible } from '../../../text/visible.ts'
import type { Count } from './counts.ts'

export interface BarsProps {
  title: string
  /** What the rows are, as the head of their column. */
  head: string
  counts: readonly Count[]
  about: string
  /** What is said instead of an empty table. */
  none: string
}

/** Shows counts as a table with bars. The bars repeat the numbers, so screen readers leave them out. */
export function Bars({ title, head, counts, about, none }: BarsProps) {
  const id = useId()
  const most = Math.max(1, ...counts.map(({ count }) => count))
  return (
    <section class="card bars" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {counts.length === 0 ? (
        <p class="muted">{none}</p>
      ) : (
        <>
          <table aria-labelledby={id}>
            <thead class="hidden">
              <tr>
                <th scope="col">{head}</th>
                <th scope="col">Keys</th>
              </tr>
            </thead>
            <tbody>
              {counts.map((one) => (
                <tr key={one.href}>
                  <th scope="row">
                    <Foreign text={one.title} />
                  </th>
                  <td>
                    <a
                      href={one.href}
                      aria-label={`${one.count} ${one.count === 1 ? 'key' : 'keys'}: ${visible(one.title)}`}
                    >
                      {one.count}
                    </a>
                    <svg aria-hidden="true" width="100%" height="10">
                      <rect width={`${(one.count / most) * 100}%`} height="10" rx="3" />
                    </svg>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <p class="hint">{about}</p>
        </>
      )}
    </section>
  )
}
