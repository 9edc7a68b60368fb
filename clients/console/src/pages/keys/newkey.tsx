import { hrefOf } from '../../text/routes.ts'

export const NewKey = () => (
  <a class="button primary" href={hrefOf('new-key')}>
    New key
  </a>
)
