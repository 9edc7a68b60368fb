import { InPlace, part } from '../../../components/part.tsx'
import type { RotationProps } from './userotation.ts'

const steps = part(async () => (await import('./rotationsteps.tsx')).RotationSteps)

/** The steps of a rotation, which are loaded after the page. */
export const RotationCard = (props: RotationProps) => (
  <section class="card" aria-labelledby="rotation">
    <h2 id="rotation">Rotate</h2>
    <InPlace of={steps} what="The rotation" {...props} />
  </section>
)
