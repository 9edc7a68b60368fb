QUEUE=$(aws sqs create-queue --queue-name keyplane-$STAGE-events --query QueueUrl --output text)
QUEUE_ARN=$(aws sqs get-queue-attributes --queue-url "$QUEUE" --attribute-names QueueArn --query Attributes.QueueArn --output text)
RULE_ARN=$(aws events put-rule --name keyplane-$STAGE-queue --event-pattern '{"source": ["keyplane"]}' --query RuleArn --output text)
cat >queue-attributes.json <<EOF
{"Policy": "{\"Version\": \"2012-10-17\", \"Statement\": [{\"Effect\": \"Allow\", \"Principal\": {\"Service\": \"events.amazonaws.com\"}, \"Action\": \"sqs:SendMessage\", \"Resource\": \"$QUEUE_ARN\", \"Condition\": {\"ArnEquals\": {\"aws:SourceArn\": \"$RULE_ARN\"}}}]}"}
EOF
aws sqs set-queue-attributes --queue-url "$QUEUE" --attributes file://queue-attributes.json
aws events put-targets --rule keyplane-$STAGE-queue --targets "Id=queue,Arn=$QUEUE_ARN,InputPath=\$.detail"
