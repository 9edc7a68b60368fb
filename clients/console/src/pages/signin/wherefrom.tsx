/** Says where people get an access key. */
export const WhereFrom = () => (
  <p class="muted">
    From an administrator, or from a colleague whose key may make others. For a new deployment,{' '}
    <code>npm run deploy</code> stores the first key in AWS Secrets Manager, and <code>npm run bootstrap</code> replaces
    one that is lost. <code>npm start</code> names the file of its own.
  </p>
)
