-- When a token stops working; a token without a time never does.
ALTER TABLE tokens ADD COLUMN expires_at bigint;
