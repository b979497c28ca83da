from campaign import Campaign, Lab

if __name__ == "__main__":
    Campaign(Lab(seed=1), seed=2).run(rounds=8)
