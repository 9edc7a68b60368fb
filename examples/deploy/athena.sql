CREATE EXTERNAL TABLE audit (
  requestid string, sourceip string, useragent string, verb string, apigroup string, resource string, subresource string,
  namespace string, name string, `user` string, key string, keyuid string, decision string, reason string, code int, latencyms double
)
PARTITIONED BY (day string)
ROW FORMAT SERDE 'org.openx.data.jsonserde.JsonSerDe'
LOCATION 's3://BUCKET/audit/'
TBLPROPERTIES (
  'projection.enabled' = 'true', 'projection.day.type' = 'date', 'projection.day.format' = 'yyyy-MM-dd',
  'projection.day.range' = '2026-01-01,NOW', 'storage.location.template' = 's3://BUCKET/audit/day=${day}/'
)
