import { useEffect, useRef } from 'preact/hooks'
import { InPlace, part } from '../../../components/part.tsx'
import type { KeyProps } from '../actions/actionprops.ts'

const steps = part(async () => (await import('./rotationsteps.tsx')).RotationSteps)

/** The steps of a rotation, which are loaded after the page. The focus goes there when somebody asks for them. */
export function RotationCard({ asked, ...props }: KeyProps & { asked: number }) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (asked > 0) title.current?.focus()
  }, [asked])
  return (
    <section class="card rotation" aria-labelledby="rotation">
      <h2 id="rotation" ref={title} tabIndex={-1}>
        Rotate
      </h2>
      <InPlace of={steps} what="The rotation" {...props} />
    </section>
  )
}
